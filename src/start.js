import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Where the program starts: main.ts, in a runtime that is set up for it. It is JavaScript because whatever comes
// before the cache pays for TypeScript: 17 MB for the compiler that strips types.

// What the first start compiles, later ones take from here. A directory that cannot be written to is no error.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/plinth'))

// The part of the heap for new objects never shrinks again. Loading modules would make it grow by 15 MB, for
// garbage of a kind that serving does not make; from then on it grows when requests need it.
setFlagsFromString('--semi-space-growth-factor=1')
await import('./main.ts')
// Before the flag changes: V8 takes compiled code only under the flags that it was compiled with.
flushCompileCache()
setFlagsFromString('--semi-space-growth-factor=2')

// What loading left behind, a tenth of it all, would stay: V8 collects when it needs room, and an idle server needs
// none. It takes some 70 ms once, when the first requests have been answered.
setTimeout(() => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  setFlagsFromString('--no-expose-gc')
}, 1_000).unref()
