import type { Routes } from '../../http/routes.ts'
import { mountDownload, mountUpload } from '../../http/storage.ts'
import * as erroredStates from './errored-states.ts'

const FILE = {
  kind: erroredStates.KIND,
  name: 'ErroredState',
  about: 'the state that an apply could not save',
}

/** Works without the database: a worker sends a state here when it cannot be saved. */
export const erroredStateRoutes: Routes = (app) => {
  mountUpload(app, {
    ...FILE,
    sealed: true,
    expect: async () => {},
    accept: (_ctx, id, staged) => erroredStates.keepStaged(id, staged),
    maxBytes: erroredStates.maxBytes,
    limitedBy: 'four times PLINTH_MAX_STATE_BYTES, or PLINTH_MAX_UPLOAD_BYTES',
  })

  mountDownload(app, FILE, erroredStates.locate)
}
