import { expectStatus, unique } from '../harness.ts'
import { HOST, key, registry } from '../mirrors.ts'
import { document } from '../resources.ts'
import type { Cast } from './cast.ts'
import type { Params } from './objects.ts'

/** A provider of another registry, which the organization may mirror. */
export async function newMirrored({ organization }: Cast): Promise<Params> {
  const { owner, path } = organization
  const name = `p-${unique()}`
  await registry.release(name, '1.0.0', key, { platforms: ['linux_amd64'] })
  const body = document('provider-mirrors', { 'allowed-providers': [`${HOST}/*/*`] })
  expectStatus(await owner.patch(`${path}/provider-mirror`, body), 200)
  return {
    organization_name: organization.name,
    hostname: HOST,
    namespace: 'acme',
    name,
    document: '1.0.0.json',
  }
}

/** The same, with an archive that is kept; `list` is where its id is from. */
export async function newKept(cast: Cast, list: 'providers' | 'packages'): Promise<Params> {
  const { name: provider } = await newMirrored(cast)
  const { owner, path, name } = cast.organization
  const answer = await owner.get(`/mirror/${name}/${HOST}/acme/${provider}/1.0.0.json`)
  await fetch(expectStatus(answer, 200).body.archives.linux_amd64.url)
  const { data } = expectStatus(await owner.get(`${path}/provider-mirror/${list}?page[size]=100`), 200).body
  const isIt = (resource: { attributes: { provider: string } }) =>
    resource.attributes.provider === `${HOST}/acme/${provider}`
  return { id: data.find(isIt).id }
}
