/** Whatever happens in whatever order: every command is answered once, or is with an effect that will answer it. */

import t from 'tap'
import type { EventObject } from 'xstate'
import type { ApiKeyEvent, Poll } from '../../machines/api-key/events.ts'
import type { CredentialEvent } from '../../machines/credential/events.ts'
import type { LinkEvent } from '../../machines/link/events.ts'
import { type Command, refused } from '../../machines/model/protocol.ts'
import fc from '../support/fast-check.ts'
import * as key from './api-key/rig.ts'
import * as credential from './credential/rig.ts'
import * as link from './link/rig.ts'
import type { Walk } from './walk.ts'

/** What an effect may still answer: told of it by `asked`, it says which event brings the answer. */
type Pending = Map<string, readonly EventObject[]>

interface Model<Event extends EventObject> {
  readonly walk: Walk<Event>
  readonly commands: readonly ((requestId: string) => Event & Command)[]
  readonly events: readonly Event[]
  /** The events with which an effect answers for a request. */
  readonly answers: (effect: { type: string; params: unknown }) => [string, readonly Event[]][]
  /** A request that the machine itself keeps, to be answered by a wait or by what happens next. */
  readonly kept: (walk: Walk<Event>) => readonly string[]
}

/** Draws from 0 to 1, read as: a command, an event, an effect's answer, or the end of a wait. */
const draws = fc.array(fc.tuple(fc.nat(3), fc.nat(1_000)), { minLength: 5, maxLength: 60 })

function live<Event extends EventObject>(
  { walk, commands, events, answers, kept }: Model<Event>,
  moves: readonly (readonly [number, number])[],
): void {
  const open = new Set<string>()
  const pending: Pending = new Map()
  let asked = 0
  const look = () => {
    for (const { requestId } of walk.replies) {
      if (!open.delete(requestId)) throw new Error(`${requestId} is answered twice`)
    }
    for (const effect of walk.effects) {
      for (const [requestId, outcomes] of answers(effect)) pending.set(requestId, outcomes)
    }
    const known = new Set([...pending.keys(), ...kept(walk)])
    for (const requestId of open) {
      if (!known.has(requestId)) throw new Error(`${requestId} is forgotten in ${walk.state}`)
    }
  }
  for (const [kind, draw] of moves) {
    if (walk.snapshot.status !== 'active') break
    const chosen = <Item>(items: readonly Item[]) => items[draw % items.length]
    const command = kind === 0 ? chosen(commands)?.(`r${asked++}`) : undefined
    const event = kind === 1 ? chosen(events) : undefined
    const answered = kind === 2 ? chosen([...pending]) : undefined
    if (command) {
      open.add(command.requestId)
      walk.send(command)
    } else if (answered) {
      pending.delete(answered[0])
      walk.send(answered[1][draw % answered[1].length] as Event)
    } else if (event) walk.send(event)
    else if (walk.waits.length > 0) walk.end(draw % walk.waits.length)
    else continue
    look()
  }
}

const settle = (requestId: string): CredentialEvent => ({
  type: 'request.settled',
  reply: refused({ requestId }, { code: 'timeout', description: '' }),
})

t.test('a credential answers every command', async () => {
  const { granted, opened, passed, probeFailed, lost, replaced, revoked, invalid } = credential
  const usual = [granted, opened, passed, granted, opened, passed, probeFailed, lost]
  const rare = [replaced, revoked, invalid, credential.limited(9, 9), credential.signedOut]
  const wipe: CredentialEvent[] = [
    credential.stored,
    { type: 'deletion.failed' },
    { type: 'deactivation.failed' },
    credential.wiped,
  ]
  const what = ['restart', 'relinked', 'delete', 'check'] as const
  fc.assert(
    fc.property(draws, (moves) => {
      live<CredentialEvent>(
        {
          walk: credential.begin(),
          commands: [
            ...Array.from({ length: 6 }, () => (id: string) => credential.perform(id)),
            (requestId) => ({
              type: 'credential.settings',
              requestId,
              settings: credential.nothing,
            }),
            ...what.map(
              (name) => (id: string) => credential.command(name, id) as CredentialEvent & Command,
            ),
          ],
          events: [...usual, ...usual, ...rare, ...wipe],
          answers: ({ type, params }) => {
            if (type !== 'perform' && type !== 'check') return []
            const { requestId } = params as Command
            return [[requestId, [settle(requestId)]]]
          },
          kept: ({ snapshot }) => {
            const { deletion } = snapshot.context
            return deletion ? [deletion.requestId] : []
          },
        },
        moves,
      )
    }),
    { numRuns: 300 },
  )
})

t.test('an API key answers every call and every poll', async () => {
  const times = [0, 100, 2_000, 5_000].map((ms) => ({ now: 1_000_000 + ms }))
  const failure = { code: 'unavailable', description: '' } as const
  fc.assert(
    fc.property(draws, (moves) => {
      live<ApiKeyEvent>(
        {
          walk: key.begin({ terms: { scopes: ['bot:receive'], expiresAt: 2_000_000 } }),
          commands: [
            ...times.map((time) => (id: string) => key.poll(id, time)),
            ...times.map((time) => (id: string) => key.poll(id, time)),
            (id) => key.poll(id, { offset: -3 }),
            (id) => key.admit(id),
            (id) => key.admit(id, { now: 3_000_000 }),
            (requestId) => ({ type: 'key.revoke', requestId }),
            (requestId) => ({ type: 'updates.drop', requestId, next: 120, now: 0 }),
          ],
          events: [{ type: 'polls.end' }],
          answers: ({ type, params }) => {
            if (type !== 'read' && type !== 'listen') return []
            const poll = params as Poll
            const found = times.flatMap((time) => [0, 2].map((n) => key.page(poll, n, time)))
            return [[poll.requestId, [...found, { type: 'poll.failed', poll, failure }]]]
          },
          kept: ({ snapshot, waits }) => [
            snapshot.context.waiting?.requestId,
            ...waits.map((event) => ('requestId' in event ? String(event.requestId) : '')),
          ],
        },
        moves,
      )
    }),
    { numRuns: 500 },
  )
})

t.test('a link flow answers every command', async () => {
  const failure = { code: 'timeout', description: '' } as const
  fc.assert(
    fc.property(draws, (moves) => {
      live<LinkEvent>(
        {
          walk: link.begin(),
          commands: [
            (id) => ({ type: 'link.verify', requestId: id, code: '1', password: '2' }),
            (id) => ({ type: 'link.verify', requestId: id, code: '1' }),
            (requestId) => ({ type: 'link.resend', requestId, now: 1e9 }),
            (requestId) => ({ type: 'link.resend', requestId, now: 0 }),
            (requestId) => ({ type: 'link.cancel', requestId }),
          ],
          events: [],
          answers: ({ type, params }) => {
            if (type !== 'answer' && type !== 'resend') return []
            const { requestId } = params as Command
            const outcomes: LinkEvent[] = [
              link.step('code_sent', requestId),
              link.step('password_needed', requestId),
              link.step('waiting', requestId),
              { type: 'answer.wrong', requestId, what: 'code' },
              link.answerFailed(failure, requestId),
              { type: 'link.refused', requestId, reason: 'no_account', description: 'y' },
              { type: 'link.finished', requestId, credentialId: 1 },
            ]
            return [[requestId, outcomes]]
          },
          kept: () => [],
        },
        moves,
      )
    }),
    { numRuns: 300 },
  )
})
