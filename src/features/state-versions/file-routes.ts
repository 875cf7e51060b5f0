import type { Routes } from '../../http/routes.ts'
import { mountDownload, mountUpload } from '../../http/storage.ts'
import { JSON_STATE, RAW } from './resource.ts'
import * as service from './service.ts'

const RAW_FILE = { kind: RAW, name: 'State', about: 'a raw state' }
const JSON_FILE = { kind: JSON_STATE, name: 'JsonState', about: 'a state in the form for programs' }

/** The files of state versions. */
export const fileRoutes: Routes = (app) => {
  mountUpload(app, {
    ...RAW_FILE,
    sealed: true,
    expect: service.getExpecting,
    accept: service.acceptRaw,
    maxBytes: (ctx) => ctx.config.maxStateBytes,
    limitedBy: 'PLINTH_MAX_STATE_BYTES',
    failures: {
      preconditionFailed: 'It has another MD5 than was announced.',
      unprocessable: 'It is not a state.',
    },
  })

  mountUpload(app, {
    ...JSON_FILE,
    sealed: true,
    expect: service.getExpecting,
    accept: service.acceptJson,
    maxBytes: service.maxJsonBytes,
    limitedBy: 'four times PLINTH_MAX_STATE_BYTES',
  })

  mountDownload(app, RAW_FILE, async (ctx, id) => {
    const { key: blobKey, size, sha256 } = await service.getFileOf(ctx, id, 'blobKey')
    const filename = `${id}.tfstate`
    return { blobKey, size, sha256, sealed: true, filename, contentType: 'application/json' }
  })

  mountDownload(app, JSON_FILE, async (ctx, id) => {
    const { key: blobKey, size, sha256 } = await service.getFileOf(ctx, id, 'jsonBlobKey')
    const filename = `${id}.json`
    return { blobKey, size, sha256, sealed: true, filename, contentType: 'application/json' }
  })
}
