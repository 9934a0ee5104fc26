/** Every state of every machine can be reached by what may happen to it. */
import t from 'tap'
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate'
import { getShortestPaths, getStateNodes } from 'xstate/graph'
import { apiKeyMachine } from '../../machines/api-key/machine.ts'
import { credentialMachine } from '../../machines/credential/machine.ts'
import { STEPS } from '../../machines/diagnosis/events.ts'
import { diagnosisMachine } from '../../machines/diagnosis/machine.ts'
import { incidentMachine } from '../../machines/incident/machine.ts'
import { linkMachine } from '../../machines/link/machine.ts'
import { nodeMachine } from '../../machines/node/machine.ts'
import { supervisionMachine } from '../../machines/supervision/machine.ts'
import { webhookMachine } from '../../machines/webhook/machine.ts'
import { charts } from '../../src/http/management/machines.ts'
import { admit, keyInput, page, poll } from './api-key/rig.ts'
import * as credential from './credential/rig.ts'
import { linkInput, step } from './link/rig.ts'
import { webhookInput } from './webhook/rig.ts'

const nodesOf = (machine: AnyStateMachine) => [machine.root, ...getStateNodes(machine.root)]

/** The ends of all waits, as the events that XState makes of them. */
const waitsOf = (machine: AnyStateMachine): EventObject[] =>
  nodesOf(machine).flatMap(({ after }) => after.map(({ eventType }) => ({ type: eventType })))

function unreached(
  machine: AnyStateMachine,
  inputs: readonly object[],
  events: (snapshot: AnyMachineSnapshot) => readonly EventObject[],
  telling: (context: Record<string, unknown>) => unknown,
): string[] {
  const reached = new Set<string>()
  for (const input of inputs) {
    const paths = getShortestPaths(machine, {
      input,
      events: (snapshot: AnyMachineSnapshot) => [...events(snapshot), ...waitsOf(machine)],
      serializeState: ({ value, context }: AnyMachineSnapshot) =>
        JSON.stringify([value, telling(context)]),
      limit: 5_000,
    })
    for (const { state } of paths) {
      for (const { id } of (state as AnyMachineSnapshot)._nodes) reached.add(id)
    }
  }
  // A state that is left as soon as it is entered is never seen from outside.
  const stable = nodesOf(machine).filter(({ always }) => always === undefined || !always.length)
  return stable.map(({ id }) => id).filter((id) => !reached.has(id))
}

t.test('every state of a credential', async (t) => {
  const { granted, opened, passed, probeFailed, lost, replaced, revoked, invalid } = credential
  const { lostToStorage } = credential
  const events = [granted, opened, passed, probeFailed, lost, replaced, revoked, invalid]
  const more = [
    lostToStorage,
    credential.limited(5, 5),
    credential.command('delete'),
    credential.signedOut,
    credential.wiped,
    credential.stored,
    { type: 'deletion.failed' },
    { type: 'deactivation.failed' },
  ]
  const input = { credentialId: 1, settings: credential.nothing }
  const inputs = ['queued', 'failed', 'deleting'].flatMap((resume) =>
    [[], [0]].map((crashes) => ({ ...input, resume, crashes })),
  )
  const telling = (context: { failedProbes?: unknown }) => Math.min(Number(context.failedProbes), 4)
  t.same(
    unreached(credentialMachine, inputs, () => [...events, ...more], telling),
    [],
  )
})

t.test('every state of an API key', async (t) => {
  const events = ({ context }: AnyMachineSnapshot) => [
    poll('p1'),
    ...[context.current, context.waiting].filter(Boolean).map((asked) => page(asked)),
    admit('late', { now: 1e15 }),
    { type: 'key.revoke', requestId: 'k' },
    { type: 'key.rotated', requestId: 'r' },
    { type: 'webhook.change', requestId: 'w', change: { kind: 'replay', after: 1 } },
    { type: 'webhook.changed', requestId: 'w', changed: { webhook: {}, cursor: 1 } },
    { type: 'user.suspended', suspension: { code: 'forbidden', description: '' } },
  ]
  const terms = { scopes: ['bot:receive' as const], expiresAt: 1e14 }
  t.same(
    unreached(apiKeyMachine, [keyInput({ terms })], events, ({ current, webhook }) => [
      current,
      webhook,
    ]),
    [],
  )
})

t.test('every state of a webhook', async (t) => {
  const week = 7 * 86_400_000
  const failing = (since: number, goneSince?: number) => ({
    type: 'endpoint.failed',
    trouble: { failures: 9, since, goneSince, dueAt: week },
    now: week,
  })
  const events = () => [failing(week), failing(0), failing(week, 0), { type: 'endpoint.answered' }]
  const inputs = [[], [1], [1, 2, 3, 4, 5]].map((crashes) => webhookInput({ crashes }))
  t.same(
    unreached(webhookMachine, inputs, events, ({ trouble }) => trouble),
    [],
  )
})

t.test('every state of a link flow', async (t) => {
  const events = () => [
    { type: 'link.verify', requestId: 'v', code: '1', password: 'p' },
    { type: 'link.cancel', requestId: 'c' },
    { type: 'answer.wrong', requestId: 'v', what: 'code' },
    { type: 'link.finished', requestId: 'v', credentialId: 1 },
    ...(['code_sent', 'password_needed', 'waiting'] as const).map((state) => step(state)),
  ]
  t.same(
    unreached(linkMachine, [linkInput()], events, ({ attemptsLeft }) => attemptsLeft),
    [],
  )
})

t.test('every state of a diagnosis', async (t) => {
  const events = ({ context }: AnyMachineSnapshot) => [
    { type: 'diagnosis.next', requestId: 'n', all: true },
    {
      type: 'step.checked',
      finding: { step: STEPS[context.findings.length], verdict: 'passed', evidence: [] },
    },
    { type: 'step.unchecked', failure: { code: 'internal', description: '' } },
  ]
  t.same(
    unreached(diagnosisMachine, [{ findings: [] }], events, ({ findings }) => findings),
    [],
  )
})

t.test('every state of a supervision', async (t) => {
  const events = () => [{ type: 'actor.crashed', at: 0 }]
  t.same(
    unreached(supervisionMachine, [{}], events, ({ crashes }) =>
      Math.min((crashes as unknown[]).length, 5),
    ),
    [],
  )
})

t.test('every state of a node', async (t) => {
  const events = () => [
    { type: 'node.joined' },
    { type: 'join.failed' },
    { type: 'beat.answered', tookMs: 1 },
    { type: 'beat.refused' },
    { type: 'node.drain' },
    { type: 'node.leave' },
  ]
  t.same(
    unreached(nodeMachine, [{}], events, () => 0),
    [],
  )
})

t.test('every state of an incident', async (t) => {
  const events = () => [
    { type: 'incident.acknowledge' },
    { type: 'incident.silence' },
    { type: 'silence.ended' },
    { type: 'cause.gone' },
  ]
  t.same(
    unreached(incidentMachine, [{}], events, () => 0),
    [],
  )
})

t.test('every guard has a name that its chart can show', async (t) => {
  t.equal(charts.size, 8)
  for (const [name, { transitions }] of charts) {
    const unnamed = transitions.filter(({ guard }) => guard === 'condition')
    t.same(unnamed, [], name)
  }
})
