/** The metrics for operators: every number that `/metrics` shows, and how the rest of the code reports it. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MediaMeasures } from '../media/media.ts'

/** Seconds. Long polls last up to 50, so the scale goes beyond them. */
const latency = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60]
/** A transcoding may take two minutes. */
const lengths = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120]
/** An account changes its node within a second or two, after a freeze within twelve, and at worst with a slow network. */
const moves = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 15, 30, 60, 300]
const commitLatency = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const commitSizes = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000]

/** The reference has fewer than two hundred methods; more names than this come from a defect. */
const METHOD_NAMES = 400

/** Whole numbers by name, read when the metrics are. */
type Census = () => Readonly<Record<string, number>>

/** How an account came to another node: the owner before gave it away, or ended with it. */
const takeoverCauses = ['handover', 'ended'] as const
type TakeoverCause = (typeof takeoverCauses)[number]

const fencedTables = ['api_key', 'credential', 'message_identity', 'update_log', 'webhook'] as const
/** The tables into which a node writes for its accounts without a request that waits for it. */
export type FencedTable = (typeof fencedTables)[number]

export interface Metrics {
  /** `route` is the pattern, never the address. */
  answered(method: string, route: string, status: number, seconds: number): void
  /** `name` is a method of the reference, in its own spelling. */
  botCalled(name: string, seconds: number): void
  /** Updates of one commit of the log. */
  committed(updates: number, seconds: number): void
  actorRestarted(kind: string): void
  /** Request records that found no room or could not be stored. */
  recordsDropped(count: number): void
  actors(kind: string, census: Census): void
  /** Age in seconds of the oldest update that a consumer has not confirmed. */
  backlogAge(read: () => number | Promise<number>): void
  waitingPolls(read: () => number): void
  pendingRecords(read: () => number): void
  /** A connection that was closed for want of room; `reason` is one of three words. */
  connectionRefused(reason: string): void
  openConnections(read: () => number): void
  /** 1 while the queue takes jobs, 0 while it is away. */
  jobQueueUp(read: () => number): void
  /** Seconds since this node sent the last beat that the database has counted. */
  beatAge(read: () => number): void
  /** 1 while this node is suspended, because the database has been silent for too long. */
  suspended(read: () => number): void
  /** Whether this node hears the hints of others, by what carries them. */
  bus(read: () => Readonly<Record<string, boolean>>): void
  /** A try to forward a request to another node; `outcome` is one of four words. */
  forwarded(outcome: string): void
  /** Seconds from forwarding a request until the answer of the other node had ended. */
  forwardedWithin(seconds: number): void
  /** Requests that wait for an account to have an owner. */
  parked(read: () => number): void
  /** The accounts of this node, by platform. */
  owned(census: Census): void
  /** Accounts that had no owner when it last looked, and that this node left to others or could not claim. */
  unowned(count: number): void
  /** This node has claimed an account that another one had. */
  tookOver(cause: TakeoverCause): void
  /** Seconds from the last beat of a node that ended until an account of it was online here. */
  tookOverWithin(seconds: number): void
  /** Seconds for which calls for some accounts waited while this node gave them away. */
  handedOverWithin(seconds: number): void
  /** Writes for accounts that were refused, because another node owns them. */
  fencedWrites(table: FencedTable, count: number): void
  readonly media: MediaMeasures
  /** The exposition format of Prometheus, and its content type. */
  text(): Promise<string>
  readonly contentType: string
}

interface MetricsOptions {
  /** Memory, CPU, event loop and garbage collection of the process too. */
  readonly ofProcess?: boolean
}

/** Each look wakes a process that has nothing else to do, which is most of what an idle one takes. */
export const LAG_RESOLUTION_MS = 50

export function createMetrics({ ofProcess = false }: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (ofProcess) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS })
  }
  const gauge = gaugesOf(registers)
  return {
    ...requestMetrics(registers),
    ...updateLogMetrics(registers),
    ...serviceMetrics(registers),
    ...ownershipMetrics(registers),
    actors: actorMetrics(registers),
    owned: ownedMetric(registers),
    bus: busMetric(registers),
    openConnections: gauge('chapar_http_connections', 'Open connections to the API.'),
    backlogAge: gauge('chapar_update_backlog_age_seconds', 'Age of the oldest unconfirmed update.'),
    waitingPolls: gauge('chapar_waiting_polls', 'getUpdates calls that wait for updates.'),
    pendingRecords: gauge('chapar_request_log_pending', 'Request records not yet stored.'),
    jobQueueUp: gauge('chapar_job_queue_up', 'Whether the job queue takes jobs.'),
    beatAge: gauge('chapar_beat_age_seconds', 'Time since the last counted beat of this node.'),
    suspended: gauge('chapar_suspended', 'Whether this node has not been heard for too long.'),
    parked: gauge('chapar_parked', 'Requests that wait for an account to have an owner.'),
    media: createMediaMetrics(registers),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

type Registers = Registry[]

/** HTTP requests and calls of bots. */
function requestMetrics(registers: Registers): Pick<Metrics, 'answered' | 'botCalled'> {
  const http = new Histogram({
    name: 'chapar_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: latency,
    registers,
  })
  const bot = new Histogram({
    name: 'chapar_bot_method_duration_seconds',
    help: 'Time from a bot API call to the end of its answer.',
    labelNames: ['method'],
    buckets: latency,
    registers,
  })
  const methodLabel = boundedLabel(METHOD_NAMES)
  return {
    answered: (method, route, status, seconds) =>
      http.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, seconds),
    botCalled: (name, seconds) => bot.observe({ method: methodLabel(name) }, seconds),
  }
}

function updateLogMetrics(registers: Registers): Pick<Metrics, 'committed'> {
  const appends = new Counter({
    name: 'chapar_log_appends_total',
    help: 'Updates stored in the log.',
    registers,
  })
  const commits = new Histogram({
    name: 'chapar_log_commit_duration_seconds',
    help: 'Time of a commit of the update log.',
    buckets: commitLatency,
    registers,
  })
  const commitSize = new Histogram({
    name: 'chapar_log_commit_updates',
    help: 'Updates in a commit of the update log.',
    buckets: commitSizes,
    registers,
  })
  return {
    committed(updates, seconds) {
      appends.inc(updates)
      commits.observe(seconds)
      commitSize.observe(updates)
    },
  }
}

/** Counts of what went wrong or was refused. */
function serviceMetrics(
  registers: Registers,
): Pick<Metrics, 'actorRestarted' | 'recordsDropped' | 'connectionRefused' | 'forwarded'> {
  const restarts = new Counter({
    name: 'chapar_actor_restarts_total',
    help: 'Actors that were restarted after a crash.',
    labelNames: ['kind'],
    registers,
  })
  const forwarded = new Counter({
    name: 'chapar_forwarded_total',
    help: 'Tries to pass a request on to the node that owns its account.',
    labelNames: ['outcome'],
    registers,
  })
  const dropped = new Counter({
    name: 'chapar_request_log_dropped_total',
    help: 'Request records and usage counts that were not stored.',
    registers,
  })
  const refused = new Counter({
    name: 'chapar_http_connections_refused_total',
    help: 'Connections that were turned away: too many in all (full), of an address, or idle when others came.',
    labelNames: ['reason'],
    registers,
  })
  return {
    forwarded: (outcome) => forwarded.inc({ outcome }),
    actorRestarted: (kind) => restarts.inc({ kind }),
    recordsDropped: (count) => dropped.inc(count),
    connectionRefused: (reason) => refused.inc({ reason }),
  }
}

type OwnershipMetrics =
  | 'forwardedWithin'
  | 'unowned'
  | 'tookOver'
  | 'tookOverWithin'
  | 'handedOverWithin'
  | 'fencedWrites'

/** Changes of the owner of accounts. */
function ownershipMetrics(registers: Registers): Pick<Metrics, OwnershipMetrics> {
  const seconds = (name: string, help: string, buckets: number[]) => {
    const histogram = new Histogram({ name, help, buckets, registers })
    return (measured: number) => histogram.observe(measured)
  }
  const unowned = new Gauge({
    name: 'chapar_unowned',
    help: 'Accounts without an owner that this node left to others when it last looked, or could not claim, because somebody keeps their rows locked.',
    registers,
  })
  const takeovers = new Counter({
    name: 'chapar_takeovers_total',
    help: 'Accounts claimed from other nodes, which gave them away (handover) or ended with them (ended).',
    labelNames: ['cause'],
    registers,
  })
  const fenced = new Counter({
    name: 'chapar_fenced_writes_total',
    help: 'Writes for accounts that were refused, because another node owns them.',
    labelNames: ['table'],
    registers,
  })
  // A series that begins with its first event shows no increase for it.
  for (const cause of takeoverCauses) takeovers.inc({ cause }, 0)
  for (const table of fencedTables) fenced.inc({ table }, 0)
  return {
    forwardedWithin: seconds(
      'chapar_forward_seconds',
      'Time from passing a request on to another node to the end of its answer; polls and streams are left out.',
      latency,
    ),
    unowned: (count) => unowned.set(count),
    tookOver: (cause) => takeovers.inc({ cause }),
    tookOverWithin: seconds(
      'chapar_takeover_seconds',
      'Time from the last beat of a node that ended until an account of it was online at this one.',
      moves,
    ),
    handedOverWithin: seconds(
      'chapar_handover_seconds',
      'Time for which calls for accounts waited while this node gave them away, for each group of accounts.',
      moves,
    ),
    fencedWrites: (table, count) => fenced.inc({ table }, count),
  }
}

function ownedMetric(registers: Registers): Metrics['owned'] {
  return (census) => {
    new Gauge({
      name: 'chapar_owned',
      help: 'Accounts that this node owns, by platform.',
      labelNames: ['platform'],
      registers,
      collect() {
        this.reset()
        for (const [platform, count] of Object.entries(census())) this.set({ platform }, count)
      },
    })
  }
}

function actorMetrics(registers: Registers): Metrics['actors'] {
  const censuses = new Map<string, Census>()
  new Gauge({
    name: 'chapar_actors',
    help: 'Live actors by kind and state.',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      this.reset()
      for (const [kind, census] of censuses) {
        for (const [state, count] of Object.entries(census())) this.set({ kind, state }, count)
      }
    },
  })
  return (kind, census) => void censuses.set(kind, census)
}

function busMetric(registers: Registers): Metrics['bus'] {
  return (read) => {
    new Gauge({
      name: 'chapar_bus',
      help: 'Whether this node hears the hints of others over this carrier.',
      labelNames: ['carrier'],
      registers,
      collect() {
        for (const [carrier, isUp] of Object.entries(read())) this.set({ carrier }, isUp ? 1 : 0)
      },
    })
  }
}

/** Makes gauges whose value is read when the metrics are. */
const gaugesOf =
  (registers: Registers) =>
  (name: string, help: string) =>
  (read: () => number | Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  }

/**
 * Bounds the values of a label, since every value is a time series forever. The first `limit` distinct values pass; any
 * further one is `other`.
 */
function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return 'other'
    known.add(value)
    return value
  }
}

function createMediaMetrics(registers: Registry[]): MediaMeasures {
  const ingests = new Counter({
    name: 'chapar_media_ingests_total',
    help: 'Files taken in, by what they were to be and what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const bytesIn = new Counter({
    name: 'chapar_media_received_bytes_total',
    help: 'Bytes of the files taken in.',
    registers,
  })
  const bytesOut = new Counter({
    name: 'chapar_media_served_bytes_total',
    help: 'Bytes of stored files that were asked for.',
    registers,
  })
  const transcodings = new Histogram({
    name: 'chapar_media_transcoding_seconds',
    help: 'Time that ffmpeg took for a file.',
    labelNames: ['outcome'],
    buckets: lengths,
    registers,
  })
  return {
    ingested(kind, outcome, bytes) {
      ingests.inc({ kind, outcome })
      bytesIn.inc(bytes)
    },
    read: (bytes) => bytesOut.inc(bytes),
    transcoded: (succeeded, seconds) =>
      transcodings.observe({ outcome: succeeded ? 'made' : 'failed' }, seconds),
    waiting(count) {
      new Gauge({
        name: 'chapar_media_tasks_waiting',
        help: 'Pieces of work on files that wait for a thread.',
        registers,
        collect() {
          this.set(count())
        },
      })
    },
  }
}
