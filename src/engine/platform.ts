const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows' }
const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' }

/** This machine as the engine names it, such as `linux_amd64`. */
export const PLATFORM = `${SYSTEMS[process.platform] ?? process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`
