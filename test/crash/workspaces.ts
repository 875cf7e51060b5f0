import { bindings, document } from '../resources.ts'
import { Known } from './known.ts'
import type { Random } from './random.ts'
import type { Actor, Session } from './session.ts'

/** The description says what the bindings are to be: a request that changes both must change both or none. */
type State = { description: string; bindings: Record<string, string>; locked: boolean } | undefined

const MOST = 8

/** Makes workspaces with tag bindings, replaces those together with a description, locks, unlocks and deletes. */
export class Workspaces implements Actor {
  readonly #session: Session
  readonly #random: Random
  readonly #collection: string
  readonly #prefix: string
  readonly #workspaces = new Map<string, Known<State>>()
  #ids = new Map<string, string>()
  #made = 0

  constructor(session: Session, random: Random, organizationPath: string, prefix: string) {
    this.#prefix = prefix
    this.#session = session
    this.#random = random
    this.#collection = `${organizationPath}/workspaces`
  }

  async step(): Promise<void> {
    const [name, known] = this.#random.pick([...this.#workspaces]) ?? []
    const { state } = known ?? {}
    if (!name || !known || !state || (this.#workspaces.size < MOST && this.#random.happens(0.3))) {
      return this.#create()
    }
    const address = `/api/v2/workspaces/${this.#ids.get(name)}`
    const act = (method: string, path: string, after: State, body?: object) => {
      known.ask(after)
      return this.#session.change(method, path, body, () => known.acknowledge())
    }
    if (this.#random.happens(0.4)) {
      const content = this.#content()
      await act('PATCH', address, { ...state, ...content }, toBody(name, content))
    } else if (this.#random.happens(0.6)) {
      const action = state.locked ? 'unlock' : 'lock'
      await act('POST', `${address}/actions/${action}`, { ...state, locked: !state.locked }, {})
    } else {
      await act('DELETE', address, undefined)
      this.#workspaces.delete(name)
    }
  }

  async #create(): Promise<void> {
    const name = `${this.#prefix}-${++this.#made}`
    const content = this.#content()
    const known = new Known<State>(undefined)
    known.ask({ ...content, locked: false })
    this.#workspaces.set(name, known)
    const created = await this.#session.change('POST', this.#collection, toBody(name, content), () =>
      known.acknowledge(),
    )
    this.#ids.set(name, created.data.id)
  }

  #content() {
    const count = this.#random.between(1, 5)
    const values = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`tag-${index}`, `value-${this.#random.between(1, 1000)}`]),
    )
    return { description: JSON.stringify(values), bindings: values }
  }

  async check(): Promise<void> {
    const { data, included = [] } = await this.#session.get(
      `${this.#collection}?search[wildcard-name]=${this.#prefix}-*&page[size]=100&include=effective_tag_bindings`,
    )
    const found = new Map<string, { id: string; state: State }>()
    for (const { id, attributes, relationships } of data) {
      const ids = relationships['effective-tag-bindings'].data.map((one: { id: string }) => one.id)
      const values = included.filter((one: { id: string }) => ids.includes(one.id))
      const entries = values.map((one: { attributes: { key: string; value: string } }) => [
        one.attributes.key,
        one.attributes.value,
      ])
      const { description, locked } = attributes
      found.set(attributes.name, {
        id,
        state: { description, locked, bindings: Object.fromEntries(entries) },
      })
    }
    for (const name of found.keys()) {
      this.#session.check(this.#workspaces.has(name), `${name} came back from deletion`)
    }
    for (const [name, known] of this.#workspaces) {
      known.observe(name, found.get(name)?.state)
      this.#session.checks += 1
      if (!known.state) this.#workspaces.delete(name)
    }
    this.#ids = new Map([...found].map(([name, { id }]) => [name, id]))
  }
}

function toBody(name: string, content: { description: string; bindings: Record<string, string> }) {
  return document(
    'workspaces',
    { name, description: content.description },
    { 'tag-bindings': bindings(content.bindings) },
  )
}
