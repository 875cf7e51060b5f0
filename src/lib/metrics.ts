import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** From a cached answer to a large upload. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300]

/** From a look-up in memory to a query that somebody should look at. */
const QUERY_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]

type MirrorAsked = 'versions' | 'release' | 'archive'

/** What the server counts and times, in the form that Prometheus reads. docs/operations.md lists the names. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = this.#histogram('plinth_http_request_seconds', 'Time from request to the last byte', {
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
  })
  readonly #queries = this.#histogram('plinth_database_query_seconds', 'Time of one SQL statement', {
    labelNames: ['statement'],
    buckets: QUERY_SECONDS,
  })
  readonly #blobs = this.#histogram(
    'plinth_blob_operation_seconds',
    'Time of one operation on stored files',
    {
      labelNames: ['operation'],
      buckets: REQUEST_SECONDS,
    },
  )
  readonly #jobs = this.#histogram('plinth_job_seconds', 'Time of one run of a background job', {
    labelNames: ['job', 'outcome'],
    buckets: REQUEST_SECONDS,
  })
  readonly #uploaded = new Counter({
    name: 'plinth_uploaded_bytes_total',
    help: 'Bytes received for files, those refused afterwards included',
    registers: [this.#registry],
  })

  readonly #mirror = new Counter({
    name: 'plinth_mirror_requests_total',
    help: 'What the provider mirror was asked for, and how it answered',
    labelNames: ['what', 'outcome'],
    registers: [this.#registry],
  })
  readonly #mirrored = new Counter({
    name: 'plinth_mirror_fetched_bytes_total',
    help: 'Bytes of archives that the provider mirror fetched and kept',
    registers: [this.#registry],
  })
  readonly #registryDownloads = new Counter({
    name: 'plinth_registry_downloads_total',
    help: 'Downloads of archives from the registry that were begun',
    // Neither names nor versions: there is no limit to those. The API counts by version, platform and consumer.
    labelNames: ['kind'],
    registers: [this.#registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  /** `route` is the pattern of the address, never the address: there is no limit to those. */
  requestEnded(method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe({ method, route, status }, seconds)
  }

  queryEnded(statement: string, seconds: number): void {
    this.#queries.observe({ statement }, seconds)
  }

  blobOperationEnded(operation: string, seconds: number): void {
    this.#blobs.observe({ operation }, seconds)
  }

  jobEnded(job: string, outcome: 'succeeded' | 'failed', seconds: number): void {
    this.#jobs.observe({ job, outcome }, seconds)
  }

  uploaded(bytes: number): void {
    this.#uploaded.inc(bytes)
  }

  registryDownloadBegan(kind: 'provider' | 'module'): void {
    this.#registryDownloads.inc({ kind })
  }

  /** `kept` is answered from what is here, `stale` the same because the upstream cannot be asked. */
  mirrorAsked(what: MirrorAsked, outcome: 'kept' | 'fetched' | 'stale' | 'failed' | 'refused'): void {
    this.#mirror.inc({ what, outcome })
  }

  mirrored(bytes: number): void {
    this.#mirrored.inc(bytes)
  }

  /** Adds a number that is looked up when the metrics are read. */
  gauge(name: string, help: string, labelName: string, read: () => Promise<Map<string, number>>): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [labelName],
      registers: [this.#registry],
      collect: async () => {
        gauge.reset()
        for (const [label, value] of await read()) gauge.set({ [labelName]: label }, value)
      },
    })
  }

  /** The text that Prometheus scrapes, and its media type. */
  async expose(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #histogram<T extends string>(name: string, help: string, options: { labelNames: T[]; buckets: number[] }) {
    return new Histogram({ name, help, ...options, registers: [this.#registry] })
  }
}
