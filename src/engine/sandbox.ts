import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { OperatorError } from '../lib/errors.ts'
import { findOnPath, SYSTEM_PATH } from './path.ts'

export type SandboxKind = 'bwrap' | 'none'

/** The sandbox that the operator asks for cannot be had. */
export class SandboxError extends OperatorError {
  override name = 'SandboxError'
}

/** What of this machine a program sees besides the system. */
export interface View {
  cwd: string
  writable: readonly string[]
  readable: readonly string[]
}

/** The system, without what may hold secrets: of /etc only what programs need to find names and certificates. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['/etc/alternatives', '/etc/ca-certificates', '/etc/ca-certificates.conf', '/etc/crypto-policies'],
  ...['/etc/gitconfig', '/etc/group', '/etc/host.conf', '/etc/hosts', '/etc/ld.so.cache', '/etc/ld.so.conf'],
  ...['/etc/ld.so.conf.d', '/etc/localtime', '/etc/mime.types', '/etc/nsswitch.conf', '/etc/passwd'],
  ...[
    '/etc/pki',
    '/etc/protocols',
    '/etc/resolv.conf',
    '/etc/services',
    '/etc/ssh/ssh_known_hosts',
    '/etc/ssl',
  ],
]

/** The process group, the network and the user stay; the rest is the sandbox's own. */
const FIXED = [
  ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL', ...SYSTEM.flatMap((path) => ['--ro-bind-try', path, path])],
  ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/dev/shm'],
]

/** Where bubblewrap tells of the process that it made, as a file descriptor. */
export const INFO_FD = 3

/**
 * Whether programs run under bubblewrap. `auto` takes it when it works here, which is tried: in containers it often
 * may not make namespaces. `bwrap` insists, and throws a `SandboxError`.
 */
export function chooseSandbox(wanted: 'auto' | 'bwrap' | 'none'): SandboxKind {
  if (wanted === 'none') return 'none'
  const problem = findProblem()
  if (problem === undefined) return 'bwrap'
  if (wanted === 'bwrap') throw new SandboxError(`bubblewrap cannot be used: ${problem}`)
  return 'none'
}

function findProblem(): string | undefined {
  const bwrap = findOnPath('bwrap')
  if (process.platform !== 'linux' || !bwrap) return 'there is no bwrap on this machine'
  const tried = spawnSync(bwrap, [...FIXED, 'true'], {
    env: { PATH: SYSTEM_PATH },
    encoding: 'utf8',
    timeout: 10_000,
  })
  return tried.status === 0 ? undefined : (tried.stderr || String(tried.error ?? tried.signal)).trim()
}

/** The command that runs a program in the sandbox, seeing no more than `view`. */
export function inSandbox(
  file: string,
  args: readonly string[],
  view: View,
): { file: string; args: string[] } {
  const bind = (how: string, paths: readonly string[]) => paths.flatMap((path) => [how, path, path])
  const mounts = [...bind('--ro-bind-try', view.readable), ...bind('--bind', view.writable)]
  return {
    file: findOnPath('bwrap') ?? 'bwrap',
    args: [...FIXED, ...mounts, '--info-fd', String(INFO_FD), '--chdir', view.cwd, file, ...args],
  }
}

/** A path and, where links lead elsewhere, the place itself. */
export function withTarget(path: string): string[] {
  try {
    return [...new Set([path, realpathSync(path)])]
  } catch {
    return []
  }
}
