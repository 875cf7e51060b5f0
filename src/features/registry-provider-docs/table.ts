import type { Immutable, Timestamp } from '../../db/columns.ts'
import type { DocCategory } from '../../lib/provider-doc-files.ts'

/** The documentation of a version, which can be replaced as a whole. */
export interface RegistryProviderDocsTable {
  versionId: Immutable<string>
  /** Of the archive that the pages come from, hexadecimal. */
  sha256: string
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}

/** One page of it. */
export interface RegistryProviderDocPageTable {
  id: Immutable<string>
  versionId: Immutable<string>
  /** Where it stands among the pages of the version, from 0. */
  position: Immutable<number>
  category: Immutable<DocCategory>
  slug: Immutable<string>
  /** In the archive. */
  path: Immutable<string>
  title: Immutable<string>
  pageTitle: Immutable<string | null>
  subcategory: Immutable<string | null>
  description: Immutable<string | null>
  truncated: Immutable<boolean>
  /** Markdown. */
  content: Immutable<string>
  /** What it is called, and how it could be looked for; this and what follows in small letters. */
  names: Immutable<string>
  headings: Immutable<string>
  /** All that it says, the names included. */
  words: Immutable<string>
}
