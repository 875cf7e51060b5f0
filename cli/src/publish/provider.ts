import { ApiError, type Client } from '../api/client.ts'
import type { Observer } from '../observer.ts'

function collectionPath(organization: string): string {
  return `/api/v2/organizations/${encodeURIComponent(organization)}/registry-providers`
}

/** Where the API has a provider. */
export function providerPath({ organization, name }: { organization: string; name: string }): string {
  return `${collectionPath(organization)}/private/${encodeURIComponent(organization)}/${encodeURIComponent(name)}`
}

/** Where the API has the provider; makes it where there is none. */
export async function ensureProvider(
  client: Client,
  { organization, name }: { organization: string; name: string },
  observe: Observer,
): Promise<{ path: string; isNew: boolean }> {
  const path = providerPath({ organization, name })
  if (await client.find(path)) return { path, isNew: false }
  observe({ type: 'step', text: `creating provider ${organization}/${name}` })
  try {
    await client.post(collectionPath(organization), 'registry-providers', {
      name,
      namespace: organization,
      'registry-name': 'private',
    })
  } catch (error) {
    // Somebody else may have made it just now, or an attempt whose answer was lost.
    if (!(error instanceof ApiError && error.status === 422 && (await client.find(path)))) throw error
    return { path, isNew: false }
  }
  return { path, isNew: true }
}
