import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { providerPublish } from './commands/provider-publish.ts'
import { EXITS } from './errors.ts'
import type { Io } from './io.ts'
import { perform } from './perform.ts'
import * as providerPublishView from './views/provider-publish.ts'

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
  addProviderCommands(program, io, (code) => {
    exit = code
  })
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
    .option('--dry-run', 'check the release and send nothing', false)
    .option('--parallel <number>', 'archives to send at the same time', wholeNumber(1), 4)
    .option('--no-download', 'do not fetch the archives again to compare them')
    .action(async (directory, options) => {
      end(
        await perform(io, options, providerPublishView, (observe) =>
          providerPublish(directory, options, io, observe),
        ),
      )
    })
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
