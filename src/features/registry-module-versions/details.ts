import type { RegistryModule } from '../registry-modules/service.ts'
import type { RegistryModuleVersion } from './store.ts'

/** A version with the module that it is of. */
export interface VersionDetails extends RegistryModuleVersion {
  module: RegistryModule
}

/** What the archive of a version is called, for those who keep it; how it ends tells the CLI how to unpack it. */
export function filenameOf({ module, version }: Pick<VersionDetails, 'module' | 'version'>): string {
  return `${module.name}-${module.provider}-${version}.tar.gz`
}
