import type { Ctx, Services } from '../../context.ts'
import { Tally } from '../../jobs/tally.ts'
import type { Downloads } from './store.ts'
import * as store from './store.ts'

const downloads = new Tally<Downloads>(({ versionId }) => versionId, store.addDownloads)

/** Counts a download of the archive of a version. Costs no time. */
export function noteDownload(ctx: Ctx, versionId: string): void {
  ctx.metrics.registryDownloadBegan('module')
  downloads.count(ctx, { versionId, count: 1 })
}

/** Writes down the downloads that were counted, as a server does that stops. */
export function writeAll(services: Services): Promise<void> {
  return downloads.writeAll(services)
}
