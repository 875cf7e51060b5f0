import type { Kysely } from 'kysely'

/** The documentation of provider versions: which archive it came from, and its pages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_provider_docs')
    .addColumn('version_id', 'text', (column) =>
      column.primaryKey().references('registry_provider_versions.id').onDelete('cascade'),
    )
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('registry_provider_doc_pages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version_id', 'text', (column) =>
      column.notNull().references('registry_provider_docs.version_id').onDelete('cascade'),
    )
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('page_title', 'text')
    .addColumn('subcategory', 'text')
    .addColumn('description', 'text')
    .addColumn('truncated', 'boolean', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('names', 'text', (column) => column.notNull())
    .addColumn('headings', 'text', (column) => column.notNull())
    .addColumn('words', 'text', (column) => column.notNull())
    .addUniqueConstraint('registry_provider_doc_pages_position', ['version_id', 'position'])
    .addUniqueConstraint('registry_provider_doc_pages_slug', ['version_id', 'category', 'slug'])
    .execute()
}
