import { type Methods, SILENT_STREAM } from './grpc.ts'
import { message } from './wire.ts'

// What go-plugin (https://github.com/hashicorp/go-plugin) wants of every plugin, whatever it is for.

const NOTHING = message({})

const SERVING = 1

/** Health, shutdown, and the streams on which a plugin written in Go would send output and offer connections. */
export const PLUGIN_METHODS: Methods = {
  '/grpc.health.v1.Health/Check': () => message({ 1: SERVING }),
  '/plugin.GRPCStdio/StreamStdio': SILENT_STREAM,
  '/plugin.GRPCBroker/StartStream': SILENT_STREAM,
  '/plugin.GRPCController/Shutdown': (_request, stream) => {
    stream.once('close', () => process.exit())
    return NOTHING
  },
}
