import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { modulePublish } from './commands/module-publish.ts'
import { changeLifecycle, type LifecycleAction } from './commands/provider-lifecycle.ts'
import { providerPublish } from './commands/provider-publish.ts'
import { providerStatus } from './commands/provider-status.ts'
import { registryVerify } from './commands/registry-verify.ts'
import { EXITS } from './errors.ts'
import type { Io } from './io.ts'
import { perform } from './perform.ts'
import * as modulePublishView from './views/module-publish.ts'
import * as providerLifecycleView from './views/provider-lifecycle.ts'
import * as providerPublishView from './views/provider-publish.ts'
import * as providerStatusView from './views/provider-status.ts'
import * as registryVerifyView from './views/registry-verify.ts'

/** Carries out a command line; returns the exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let exit = 0
  const program = new Command('plinth')
    .description('Publishes providers and modules to a private registry for Terraform and OpenTofu.')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .exitOverride()
  const end = (code: number) => {
    exit = code
  }
  addProviderCommands(program, io, end)
  addModuleCommands(program, io, end)
  addRegistryCommands(program, io, end)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exit
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? 0 : EXITS.usage
  }
}

type End = (exit: number) => void

function addProviderCommands(program: Command, io: Io, end: End): void {
  const provider = program.command('provider').description('providers of the registry')
  addConnection(provider.command('publish'))
    .description('publish a release, such as goreleaser makes it, or what is missing of it')
    .argument('[directory]', 'where the release is', 'dist')
    .option('--name <name>', 'which provider, where the directory holds several')
    .option('--version <version>', 'which version, where the directory holds several')
    .option(
      '--protocols <list>',
      'versions of the plugin protocol, such as 5.0,6.0; default: the manifest',
      list,
    )
    .option('--key <file|keyid>', 'the key it is signed with; default: what gpg or the registry knows')
    .option('--sign', 'make the list of digests, and sign it by gpg or by the private key in --key', false)
    .option(
      '--docs <directory>',
      'where its documentation is; default: docs or website/docs beside the release',
    )
    .option('--no-docs', 'send no documentation')
    .option('--dry-run', 'check the release and send nothing', false)
    .option('--parallel <number>', 'archives to send at the same time', wholeNumber(1), 4)
    .option('--no-download', 'do not fetch the archives again to compare them')
    .action(async (directory, options) =>
      end(
        await perform(io, options, providerPublishView, (observe) =>
          providerPublish(directory, options, io, observe),
        ),
      ),
    )
  addConnection(provider.command('status'))
    .description('which files of a version are there, and what is missing')
    .argument('<name>')
    .argument('<version>')
    .action(async (name, version, options) =>
      end(
        await perform(io, options, providerStatusView, (observe) =>
          providerStatus({ name, version }, options, io, observe),
        ),
      ),
    )
  addLifecycleCommands(provider, io, end)
}

function addLifecycleCommands(provider: Command, io: Io, end: End): void {
  const actions: [LifecycleAction, string][] = [
    ['deprecate', 'tell everybody who installs a version that they should not'],
    ['revoke', 'let nobody install a version any more'],
    ['restore', 'take back a revocation, or then the deprecation'],
  ]
  for (const [action, description] of actions) {
    const command = addConnection(provider.command(action))
      .description(description)
      .argument('<name>')
      .argument('<version>')
      .action(async (name, version, options) =>
        end(
          await perform(io, options, providerLifecycleView, (observe) =>
            changeLifecycle(action, { name, version }, options, io, observe),
          ),
        ),
      )
    if (action === 'restore') continue
    command
      .option('--reason <text>', 'what people are told')
      .option('--link <url>', 'where there is more about it')
  }
}

function addModuleCommands(program: Command, io: Io, end: End): void {
  const module = program.command('module').description('modules of the registry')
  addConnection(module.command('publish'))
    .description('publish what is in a directory, without what .terraformignore names')
    .argument('[directory]', 'where the module is', '.')
    .requiredOption('--version <version>', 'such as 1.2.3')
    .option(
      '--name <name>',
      'what it is called; default: after terraform-<provider>- in the name of the directory',
    )
    .option('--provider <system>', 'what it is for, such as aws; default: from the name of the directory')
    .option('--commit <sha>', 'what it was made from; default: GITHUB_SHA or CI_COMMIT_SHA')
    .option('--dry-run', 'show what would be published and send nothing', false)
    .action(async (directory, options) =>
      end(
        await perform(io, options, modulePublishView, (observe) =>
          modulePublish(directory, options, io, observe),
        ),
      ),
    )
}

function addRegistryCommands(program: Command, io: Io, end: End): void {
  const registry = program.command('registry').description('the registry as a whole')
  addConnection(registry.command('verify'))
    .description('check that nobody changed, removed or added a record of the log')
    .argument('[file]', 'an exported log; without it that of the server')
    .option('--since <file>', 'what --save wrote: the log has to go on from there')
    .option('--save <file>', 'remember where the log ends')
    .action(async (file, options) =>
      end(
        await perform(io, options, registryVerifyView, (observe) =>
          registryVerify(file, options, io, observe),
        ),
      ),
    )
}

function addConnection(command: Command): Command {
  return command
    .option('--server <url>', 'default: PLINTH_SERVER, TFE_ADDRESS, TFE_HOSTNAME, or where plinth came from')
    .option(
      '--organization <name>',
      'default: PLINTH_ORGANIZATION, TFE_ORGANIZATION or TF_CLOUD_ORGANIZATION',
    )
    .option('--retries <number>', 'how often to try again what may pass', wholeNumber(0), 5)
    .option('--json', 'print one JSON document, and nothing else', false)
    .addHelpText(
      'after',
      '\nThe token comes from PLINTH_TOKEN, TFE_TOKEN, TF_TOKEN_<host>, or what `terraform login` saved.',
    )
}

function list(value: string): string[] {
  return value.split(',').map((each) => each.trim())
}

function wholeNumber(least: number) {
  return (value: string): number => {
    if (/^\d+$/.test(value) && Number(value) >= least) return Number(value)
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`)
  }
}
