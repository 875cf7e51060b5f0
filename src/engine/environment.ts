import type { Assignment } from './channel.ts'
import { SYSTEM_PATH } from './path.ts'

/** What the platform decides itself, or what would take the engine out of its hands. */
const RESERVED =
  /^(PATH|HOME|TMPDIR|LD_.*|TERRAFORM_CONFIG|CHECKPOINT_DISABLE|TF_(CLI_(ARGS.*|CONFIG_FILE)|DATA_DIR|WORKSPACE|INPUT|IN_AUTOMATION|LOG_PATH.*|PLUGIN_CACHE.*|REATTACH_PROVIDERS|FORCE_LOCAL_BACKEND|STATE_PERSIST_INTERVAL))$/

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export interface Settings {
  home: string
  temporary: string
  cliConfig: string
  /** The file with the key for fetching modules. */
  sshKey: string | undefined
  /** What the operator gives to every run, such as a proxy. */
  base: Record<string, string>
}

/** The environment of the engine, made from nothing; and the names of the run's variables that it leaves out. */
export function makeEnvironment(
  assignment: Assignment,
  settings: Settings,
): { env: Record<string, string>; ignored: string[] } {
  const own = platformVariables(assignment, settings)
  const env: Record<string, string> = { ...settings.base }
  const ignored: string[] = []
  for (const { key, value } of assignment.environmentVariables) {
    const taken = NAME.test(key) && !RESERVED.test(key) && !(key in own) && !value.includes('\0')
    if (taken) env[key] = value
    else ignored.push(key)
  }
  return { env: { ...env, ...own }, ignored: [...new Set(ignored)] }
}

function platformVariables(assignment: Assignment, settings: Settings): Record<string, string> {
  const { run, workspace, organization, project } = assignment
  const described = {
    TFC_RUN_ID: run.id,
    TFC_WORKSPACE_NAME: workspace.name,
    TFC_WORKSPACE_SLUG: `${organization}/${workspace.name}`,
    TFC_PROJECT_NAME: project,
  }
  return {
    PATH: SYSTEM_PATH,
    HOME: settings.home,
    TMPDIR: settings.temporary,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    TF_CLI_CONFIG_FILE: settings.cliConfig,
    TF_WORKSPACE: workspace.name,
    ...(run.debuggingMode && { TF_LOG: 'TRACE' }),
    ...(settings.sshKey && { GIT_SSH_COMMAND: sshCommand(settings.sshKey, settings.home) }),
    ...described,
    ...Object.fromEntries(Object.entries(described).map(([name, value]) => [`TF_VAR_${name}`, value])),
  }
}

/** Hosts are believed at their first sight: a run knows none, and forgets them at its end. */
function sshCommand(key: string, home: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const options = ['IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=accept-new']
  const all = [...options, `UserKnownHostsFile=${home}/known_hosts`]
  return ['ssh', '-F', 'none', '-i', quote(key), ...all.flatMap((option) => ['-o', quote(option)])].join(' ')
}
