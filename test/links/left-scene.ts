/** A table with link flows of one user on a fake network, and the nodes that find them there. */
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { LinkStep, Platform } from '../../actors/ports/platform.ts'
import type { LinkState } from '../../machines/link/events.ts'
import { LinkFlows } from '../../src/links/flows.ts'
import { PostgresLinkStore } from '../../src/links/store.ts'
import { steadyClock } from '../../src/nodes/nodes.ts'
import { until } from '../support/client.ts'
import { FakeLogger, only } from '../support/fakes.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

export const MINUTE = 60_000

/** A flow as it is stored; `sealed`: its session may still be signed in. */
type Row = { readonly state: LinkState; readonly sealed: boolean }

const none = (): Promise<LinkStep> => Promise.reject(new Error('nobody answers'))

export async function scene(t: Test) {
  const { db, credential } = await stage(t)
  const vault = await testVault(t, db)
  await credential()
  const [user] = await db.query<{ id: number }>('select id from app_user', [])
  const userId = user!.id
  const network = {
    isAway: false,
    step: undefined as LinkStep | undefined,
    answer: none,
    ended: [] as unknown[],
  }
  const ends = async (session: unknown) => {
    if (network.isAway) throw new Error('the network is away')
    network.ended.push(session)
  }
  const platform = {
    ...only<Platform>(t, 'Platform', {
      id: 'test',
      linkMethods: [],
      async resumeLink(stored) {
        const step = network.step ?? { kind: 'password', stored }
        const close = async (options?: { readonly signOut: boolean }) => {
          if (options?.signOut && step.kind !== 'done') await ends(stored)
        }
        return { step, answer: () => network.answer(), changed: none, close }
      },
      signOut: (secrets) => ends(secrets),
    }),
    unavailable: '',
  }
  const node = async () => {
    const [row] = await db.query<{ id: number }>(
      `insert into node (name, version, schema, state) values ('n', '1', '1', 'up') returning id`,
      [],
    )
    return row!.id
  }
  const hasEnded = (id: number) =>
    db.query(`update node set state = 'gone', ended_at = now() where id = $1`, [id])
  /** A process, which is that node. */
  const processOf = (id: number) => {
    const platforms = new Map([['test', platform]])
    const logger = new FakeLogger()
    const store = new PostgresLinkStore({
      ...{ db, vault, platforms, held: () => undefined, onFinish: async () => undefined },
      ...{ incarnation: () => id, owner: () => id },
    })
    const flows = new LinkFlows({
      ...{
        store,
        platforms,
        answerTakes: 10_000,
        clock: { ...steadyClock, now: Date.now },
        logger,
      },
      gate: { start: async () => undefined, resend: async () => undefined },
    })
    t.teardown(() => flows.stop())
    return { store, flows, logger }
  }
  let flows = 0
  /** A flow that the network waits for, begun at that node. */
  const begun = async (by: number, overForMs: number, state: LinkState = 'password_needed') => {
    const sessionId = `flow ${++flows}`
    await processOf(by).store.create({
      ...{ sessionId, userId, platform: 'test', method: 'phone', attemptsLeft: 5 },
      ...{ relinks: undefined, target: undefined, stored: sessionId },
      step: { state: 'password_needed' },
      expiresAt: Date.now() - overForMs,
    })
    await db.query('update link_session set state = $2 where id = $1', [sessionId, state])
    return sessionId
  }
  const rows = () =>
    db.query<Row>(
      'select state, stored is not null as sealed from link_session order by created_at',
      [],
    )
  /** Waits until the flows are stored like that. */
  const stored = async (...wanted: readonly Row[]) => {
    await until(async () => isDeepStrictEqual(await rows(), wanted)).catch(async () => {
      t.same(await rows(), wanted)
    })
  }
  return { db, vault, userId, platform, network, node, hasEnded, processOf, begun, rows, stored }
}
