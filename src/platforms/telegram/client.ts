/** The library's client, set up the way this service wants it: quiet, patient, and told where everything is kept. */
import { BaseTelegramClient, networkMiddlewares } from '@mtcute/node'
import type { SessionStorage } from './storage/session-storage.ts'

export type Client = BaseTelegramClient

export interface Application {
  readonly id: number
  readonly hash: string
}

export interface DataCentreAddress {
  readonly id: number
  readonly ipAddress: string
  readonly port: number
}

export interface ClientOptions {
  readonly application: Application
  /** Where a client begins that knows no other; absent: the library's own list. */
  readonly entrance?: DataCentreAddress
  readonly storage: SessionStorage
  readonly updates: boolean
  /** The library could not do something by itself. */
  defect(cause: Error): void
}

/** A shorter wait is waited for, a longer one told. */
const PATIENCE_MS = 3_000
const SHORTEST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000

export function createClient(options: ClientOptions): Client {
  const { application, entrance, storage, updates, defect } = options
  const client = new BaseTelegramClient({
    apiId: application.id,
    apiHash: application.hash,
    storage,
    // The service stops its sessions itself: a hook on the process for each would be one too many.
    storageOptions: { cleanup: false, peers: { cacheSize: 50 } },
    updates: updates ? { catchUp: true } : false,
    logLevel: 0,
    initConnectionOptions: { deviceModel: 'Chapar', systemVersion: 'Node.js', appVersion: '1' },
    ...(entrance && { defaultDcs: { main: entrance, media: { ...entrance, mediaOnly: true } } }),
    network: {
      middlewares: networkMiddlewares.basic({
        floodWaiter: { maxWait: PATIENCE_MS, maxRetries: 2, onBeforeWait: () => undefined },
        internalErrors: { maxRetries: 2, exceptErrors: ['RANDOM_ID_DUPLICATE'] },
      }),
    },
    reconnectionStrategy: backoff(),
  })
  client.onError.add(defect)
  refuseWhenClosed(client)
  noteNothingLate(client)
  return client
}

/** The library's own loop may ask once more after the end, and would leave a rejection that nobody handles. */
function refuseWhenClosed(client: Client) {
  const call = client.call.bind(client)
  const guarded: Client['call'] = (request, params) =>
    client.destroyed ? Promise.reject(new Error('The client is closed')) : call(request, params)
  client.call = guarded
}

/** It may note a peer after the end as well, and set a timer to write it: for half a minute no process would end. */
function noteNothingLate(client: Client) {
  const { peers } = client.storage
  const store = peers.store.bind(peers)
  peers.store = async (peer) => {
    await store(peer)
    if (client.destroyed) await peers.close()
  }
}

/** The library counts only the fails in a row of one socket; a server that hangs up after a greeting is one, too. */
function backoff() {
  let wait = 0
  let last = 0
  return () => {
    const now = performance.now()
    const isCalm = now - last > 4 * LONGEST_RETRY_MS
    last = now
    wait = isCalm ? SHORTEST_RETRY_MS : Math.min(wait * 2, LONGEST_RETRY_MS)
    return wait * (0.5 + Math.random() / 2)
  }
}
