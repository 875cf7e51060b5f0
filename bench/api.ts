/** Makes things by the API, and fails loudly when it cannot. */
export class Api {
  readonly base: string
  readonly #token: string

  constructor(base: string, token: string) {
    this.base = base
    this.#token = token
  }

  async post(path: string, type: string, attributes: object, relationships?: object) {
    const response = await fetch(this.base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data: { type, attributes, relationships } }),
    })
    if (!response.ok) throw new Error(`POST ${path}: ${await response.text()}`)
    const { data } = (await response.json()) as { data: Resource }
    return data
  }

  async get(path: string): Promise<Resource> {
    const response = await fetch(this.base + path, { headers: { authorization: `Bearer ${this.#token}` } })
    if (!response.ok) throw new Error(`GET ${path}: ${await response.text()}`)
    return ((await response.json()) as { data: Resource }).data
  }
}

interface Resource {
  id: string
  attributes: Record<string, string>
  links: Record<string, string>
}
