import { document } from '../resources.ts'
import { Known } from './known.ts'
import type { Random } from './random.ts'
import type { Actor, Session } from './session.ts'

type State = { disabled: boolean } | undefined

const MOST = 12

/** Makes, changes and deletes reserved tag keys. */
export class TagKeys implements Actor {
  readonly #session: Session
  readonly #random: Random
  readonly #collection: string
  readonly #keys = new Map<string, Known<State>>()
  #ids = new Map<string, string>()
  #made = 0

  constructor(session: Session, random: Random, organizationPath: string) {
    this.#session = session
    this.#random = random
    this.#collection = `${organizationPath}/reserved-tag-keys`
  }

  async step(): Promise<void> {
    const [key, known] = this.#random.pick([...this.#keys]) ?? []
    if (!key || !known || (this.#keys.size < MOST && this.#random.happens(0.5))) return this.#create()
    const address = `/api/v2/reserved-tag-keys/${this.#ids.get(key)}`
    if (this.#random.happens(0.5)) {
      known.ask(undefined)
      await this.#session.change('DELETE', address, undefined, () => known.acknowledge())
      this.#keys.delete(key)
      return
    }
    const disabled = !known.state?.disabled
    known.ask({ disabled })
    await this.#session.change('PATCH', address, body(key, disabled), () => known.acknowledge())
  }

  async #create(): Promise<void> {
    const key = `key-${++this.#made}`
    const disabled = this.#random.happens(0.5)
    const known = new Known<State>(undefined)
    known.ask({ disabled })
    this.#keys.set(key, known)
    const created = await this.#session.change('POST', this.#collection, body(key, disabled), () =>
      known.acknowledge(),
    )
    this.#ids.set(key, created.data.id)
  }

  async check(): Promise<void> {
    const { data } = await this.#session.get(`${this.#collection}?page[size]=100`)
    const found = new Map<string, { id: string; disabled: boolean }>()
    for (const { id, attributes } of data) {
      found.set(attributes.key, { id, disabled: attributes['disable-overrides'] })
    }
    for (const key of found.keys()) this.#session.check(this.#keys.has(key), `${key} came back from deletion`)
    for (const [key, known] of this.#keys) {
      const actual = found.get(key)
      known.observe(key, actual && { disabled: actual.disabled })
      this.#session.checks += 1
      if (!known.state) this.#keys.delete(key)
    }
    this.#ids = new Map([...found].map(([key, { id }]) => [key, id]))
  }
}

function body(key: string, disabled: boolean) {
  return document('reserved-tag-keys', { key, 'disable-overrides': disabled })
}
