import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { FIXTURE } from './pack.ts'

/** The ids of the running processes of the fixture provider that is installed below a directory. */
export async function findProviders(directory: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,args='])
  return stdout
    .split('\n')
    .filter((line) => line.includes(`${directory}/`) && line.includes(`/terraform-provider-${FIXTURE}_v`))
    .map((line) => Number.parseInt(line, 10))
}
