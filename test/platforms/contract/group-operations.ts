/** Each thing an account does with a group or its profile, seen by looking again. */
import type { Test } from 'tap'
import type { OperationKind } from '../../../machines/model/operation.ts'
import { finestGrades, groupSteps } from './group-steps.ts'
import type { ContractHarness } from './harness.ts'
import { able, need, perform, scene, sent, words } from './scene.ts'

const PROFILE = [
  'set_name',
  'set_about',
  'set_profile_photo',
  'profile_photos',
  'profile_audios',
] as const

export const groupOperations: readonly OperationKind[] = [
  ...new Set(groupSteps.map(({ kind }) => kind)),
  'member',
  ...PROFILE,
]

export async function groupContract(t: Test, harness: ContractHarness) {
  const { operations } = harness.platform.capabilities
  const declared = groupSteps.filter(({ kind }) => operations.includes(kind))
  if (declared.length === 0) return
  await able(t, harness, ['group', 'peerContent'], 'a group of its own', async (t) => {
    const { account, peer, first } = await scene(t, harness)
    const chat = await need(harness.group, 'group').call(harness, account, peer)
    const { native: message } = await sent(first, chat, words('in the group'))
    const photo = await need(harness.file, 'peerContent').call(harness, 'photo')
    const { grades = finestGrades } = harness
    let place = { chat, person: peer.chat, message, link: '', photo, grades }
    for (const { kind, sentence, before, operation, yields, look } of declared) {
      await t.test(`${kind}: ${sentence}`, async (t) => {
        await before?.(place, peer)
        const result = await perform(first, operation(place))
        t.match(result, yields ?? { kind: 'done' })
        if (result.kind === 'invite') place = { ...place, link: result.invite.link }
        const { operation: looking, finds } = look?.(place) ?? {}
        if (!looking || !operations.includes(looking.kind)) return
        t.match(await perform(first, looking), finds ?? {})
      })
    }
  })
}

export async function profileContract(t: Test, harness: ContractHarness) {
  const { operations } = harness.platform.capabilities
  const declared = PROFILE.filter((kind) => operations.includes(kind))
  if (declared.length === 0) return
  await able(t, harness, ['peerContent'], 'a profile of its own', async (t) => {
    const { account, first } = await scene(t, harness)
    const photo = await need(harness.file, 'peerContent').call(harness, 'photo')
    const does = (kind: (typeof PROFILE)[number]) => declared.includes(kind)
    const done = { kind: 'done' }
    const [firstName, about] = [words('name'), words('about')]
    if (does('set_name')) t.match(await perform(first, { kind: 'set_name', firstName }), done)
    if (does('set_about')) t.match(await perform(first, { kind: 'set_about', about }), done)
    if (does('set_profile_photo')) {
      t.match(await perform(first, { kind: 'set_profile_photo', photo }), done)
    }
    if (does('profile_photos')) {
      const mine = { person: account.native, offset: 0, limit: 10 }
      const found = { kind: 'photos', ...(does('set_profile_photo') && { total: 1 }) }
      t.match(await perform(first, { kind: 'profile_photos', ...mine }), found)
    }
    if (does('profile_audios')) {
      const mine = { person: account.native, offset: 0, limit: 10 }
      const none = { kind: 'audios', total: 0, audios: [] }
      t.match(await perform(first, { kind: 'profile_audios', ...mine }), none)
    }
  })
}
