import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connect } from '../src/db/connect.ts'
import { PostgresCluster } from './postgres-cluster.ts'

// A real PostgreSQL for the tests: the one that PLINTH_TEST_POSTGRES_URL names, or else a fresh one.

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined when the tests run on SQLite only. */
    postgresUrl: string | undefined
    /** The name of a database with the schema and nothing in it, to make others from. */
    postgresTemplate: string | undefined
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env['PLINTH_TEST_DIALECTS'] === 'sqlite') {
    project.provide('postgresUrl', undefined)
    project.provide('postgresTemplate', undefined)
    return async () => {}
  }
  const given = process.env['PLINTH_TEST_POSTGRES_URL']
  // What a process wrote outlives the process without `fsync`; only of the machine it would not.
  const cluster = given ? undefined : await PostgresCluster.create(['fsync=off'])
  const url = given ?? (cluster as PostgresCluster).url
  const template = await createDatabase(url)
  const connection = await connect({ kind: 'postgres', url: onDatabase(url, template) }, () => {})
  await connection.close()
  project.provide('postgresUrl', url)
  project.provide('postgresTemplate', template)
  return async () => {
    if (cluster) await cluster.remove()
    else await administer(url, `drop database ${template}`)
  }
}

/** Makes a database of a name that no other has: an empty one, or a copy of `template`. Returns the name. */
export async function createDatabase(url: string, template?: string): Promise<string> {
  const name = `plinth_${randomUUID().replaceAll('-', '')}`
  await administer(url, `create database ${name}${template ? ` template ${template}` : ''}`)
  return name
}

/** `url` with another database. */
export function onDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}
