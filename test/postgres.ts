import type { TestProject } from 'vitest/node'
import { PostgresCluster } from './postgres-cluster.ts'

// A real PostgreSQL for the tests: the one that PLINTH_TEST_POSTGRES_URL names, or else a fresh one.

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined when the tests run on SQLite only. */
    postgresUrl: string | undefined
  }
}

export async function setup(project: TestProject): Promise<() => void | Promise<void>> {
  const given = process.env['PLINTH_TEST_POSTGRES_URL']
  if (process.env['PLINTH_TEST_DIALECTS'] === 'sqlite' || given) {
    project.provide('postgresUrl', given)
    return () => {}
  }
  const cluster = await PostgresCluster.create()
  project.provide('postgresUrl', cluster.url)
  return () => cluster.remove()
}
