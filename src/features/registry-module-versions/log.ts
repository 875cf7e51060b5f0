import type { Ctx } from '../../context.ts'
import * as registryLog from '../registry-log/service.ts'
import { filenameOf, type VersionDetails } from './details.ts'

/** Writes down what happens to a published version, where everybody can check that nothing is missing. */
export async function note(
  tx: Ctx,
  action: 'publish' | 'deprecate' | 'undeprecate' | 'delete',
  details: VersionDetails,
): Promise<void> {
  const { module, version, sha256, deprecationReason: reason, deprecationLink: link } = details
  const { organizationId, namespace, name, provider: system } = module
  const said = { ...(reason && { reason }), ...(link && { link }) }
  await registryLog.append(tx, organizationId, {
    action,
    subject: {
      kind: 'module-version',
      namespace,
      name,
      system,
      version,
      digests: { [filenameOf(details)]: sha256 ?? '' },
      ...(action === 'deprecate' && { details: said }),
    },
  })
}
