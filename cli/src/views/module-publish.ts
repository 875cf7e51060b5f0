import type { ModulePublishResult } from '../commands/module-publish.ts'
import { findingLines } from './text.ts'

function usageOf(name: string, source: string, version: string): string {
  return [`module "${name}" {`, `  source  = "${source}"`, `  version = "${version}"`, '}'].join('\n')
}

export function textOf({ name, system, version, files, findings, publication }: ModulePublishResult): string {
  if (!publication) {
    const found = findings.map((finding) => `${findingLines(finding)}\n`).join('')
    const list = files.map((file) => `  ${file}\n`).join('')
    return `${found}${list}${name} ${version} for ${system} is in order. Nothing was sent (--dry-run).\n`
  }
  const { status, source } = publication
  const done = status === 'published' ? 'Published' : 'Already published:'
  return `${done} ${source} ${version}, ${files.length} files.\n\n${usageOf(name, source, version)}\n`
}

export function jsonOf({ name, system, version, files, findings, publication }: ModulePublishResult): object {
  const common = { name, provider: system, version, files, findings }
  if (!publication) return { status: 'dry-run', ...common }
  const { status, source, created } = publication
  return { status, source, ...common, created, usage: usageOf(name, source, version) }
}
