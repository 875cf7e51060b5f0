import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { FoundRelease } from './find.ts'
import type { Finding } from './release.ts'

const DEFAULT_PROTOCOL = '5.0'

/** The name that the manifest has in a release. */
export function manifestName({ name, version }: { name: string; version: string }): string {
  return `terraform-provider-${name}_${version}_manifest.json`
}

/**
 * The manifest of a release. goreleaser lists it under its name in the release, but leaves the file where it is in the
 * source.
 */
export async function readManifest(found: FoundRelease): Promise<{ file: string; text: string } | undefined> {
  const parent = dirname(resolve(found.directory))
  const indexed = found.artifacts.find(({ name }) => name === manifestName(found))?.path
  const places = [
    join(found.directory, manifestName(found)),
    ...(indexed ? [join(parent, indexed)] : []),
    join(found.directory, 'terraform-registry-manifest.json'),
    join(parent, 'terraform-registry-manifest.json'),
  ]
  for (const file of places) {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined) return { file, text }
  }
  return undefined
}

/** The versions of the plugin protocol that a release speaks: as asked for, or else as its manifest says. */
export async function readProtocols(
  found: FoundRelease,
  digests: ReadonlyMap<string, string>,
  asked: readonly string[] | undefined,
): Promise<{ protocols: readonly string[]; findings: Finding[] }> {
  const manifest = await readManifest(found)
  const file = manifest?.file ?? manifestName(found)
  const findings: Finding[] = []
  if (manifest && !digests.has(manifestName(found))) {
    findings.push({
      severity: 'warning',
      code: 'manifest-unlisted',
      file,
      message: 'the list of digests does not name the manifest; the public registry refuses such a release',
      fix: "Add it in .goreleaser.yml: checksum.extra_files, with name_template '{{ .ProjectName }}_{{ .Version }}_manifest.json'.",
    })
  }
  if (asked) return { protocols: asked, findings: [...findings, ...checkProtocols(asked, '--protocols')] }
  if (!manifest) {
    findings.push({
      severity: 'warning',
      code: 'manifest-missing',
      file,
      message: `there is no manifest that tells the plugin protocol; ${DEFAULT_PROTOCOL} is assumed`,
      fix: 'Add a terraform-registry-manifest.json, or say --protocols 6.0 (or 5.0).',
    })
    return { protocols: [DEFAULT_PROTOCOL], findings }
  }
  const protocols = protocolsOf(manifest.text)
  return { protocols: protocols ?? [], findings: [...findings, ...checkProtocols(protocols, file)] }
}

function protocolsOf(text: string): string[] | undefined {
  try {
    const { metadata } = JSON.parse(text) as { metadata?: { protocol_versions?: string[] } }
    return metadata?.protocol_versions
  } catch {
    return undefined
  }
}

function checkProtocols(protocols: readonly string[] | undefined, file: string): Finding[] {
  const isSound =
    Array.isArray(protocols) && protocols.length > 0 && protocols.every((each) => /^\d+\.\d+$/.test(each))
  if (isSound) return []
  return [
    {
      severity: 'error',
      code: 'protocols-malformed',
      file,
      message: 'it does not name versions of the plugin protocol',
      fix: 'They look like 5.0 or 6.0; in a manifest: {"version": 1, "metadata": {"protocol_versions": ["6.0"]}}.',
    },
  ]
}
