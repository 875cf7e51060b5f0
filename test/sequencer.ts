import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Where the tests are that take longest, most of it waiting: leases that end, timeouts, two hundred kills. */
const SLOW = ['/test/crash/', '/test/agent/', '/test/outages/', '/test/callers/', '/test/cli/']

/** Begins with the slow files, so that none of them is left alone at the end. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW.findIndex((folder) => moduleId.includes(folder))
      return place < 0 ? SLOW.length : place
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
