import type { Resource } from '../../http/jsonapi.ts'
import { Nullable } from '../../http/schema.ts'
import { Moment, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { WorkspaceResource } from './service.ts'

const TYPE = 'resources'

export const ShownWorkspaceResource = Shown('WorkspaceResource', TYPE, {
  id: 'wsr-KNYb3Jj3JTBgoBFs',
  attributes: {
    address: Type.String({ examples: ['random_pet.animal[0]'] }),
    name: Type.String({ examples: ['animal'] }),
    'name-index': Nullable(Type.String({ description: 'Which of several.', examples: ['0'] })),
    module: Type.String({ description: 'The address of the module, or `root`.', examples: ['root'] }),
    provider: Type.String({ examples: ['hashicorp/random'] }),
    'provider-type': Type.String({ examples: ['random_pet'] }),
    'created-at': Moment('When it was first in the state.'),
    'updated-at': Moment('When it was last changed in the state.'),
    'modified-by-state-version-id': Type.String({ examples: ['sv-g4rqST72reoHMM5a'] }),
  },
})

export function toResource(resource: WorkspaceResource): Resource {
  return {
    id: resource.id,
    type: TYPE,
    attributes: {
      address: resource.address,
      name: resource.name,
      'name-index': resource.nameIndex,
      module: resource.module,
      provider: resource.provider,
      'provider-type': resource.providerType,
      'created-at': resource.createdAt,
      'updated-at': resource.updatedAt,
      'modified-by-state-version-id': resource.stateVersionId,
    },
  }
}
