/** Stories are posted once, seen by others, and gone when they are deleted. */
import type { Test } from 'tap'
import type { OperationKind } from '../../../machines/model/operation.ts'
import type { ContractHarness } from './harness.ts'
import { able, need, perform, refusalOf, scene, sent, words } from './scene.ts'

export const storyOperations = ['post_story', 'delete_story'] satisfies readonly OperationKind[]

export async function storyContract(t: Test, harness: ContractHarness) {
  const { operations } = harness.platform.capabilities
  if (!storyOperations.every((kind) => operations.includes(kind))) return
  await able(t, harness, ['peerContent'], 'a story, and its end', async (t) => {
    const { account, peer, first } = await scene(t, harness)
    await sent(first, peer.chat, words('we know each other'))
    const media = await need(harness.file, 'peerContent').call(harness, 'photo')
    const caption = { text: words('story'), entities: [] }
    const posting = { kind: 'post_story', media, caption, activeSeconds: 86_400 } as const
    const requestId = crypto.randomUUID()
    const posted = await perform(first, posting, requestId)
    if (posted.kind !== 'story') throw new Error('posting resolves with the story')
    t.match(posted.story.chat, { native: account.native, surface: 'private' })
    t.same(await perform(first, posting, requestId), posted, 'the same story again')
    const seen = () => need(peer.seesStories, 'peerContent').call(peer)
    t.same(await seen(), [caption.text])
    const deletion = { kind: 'delete_story', story: posted.story.id } as const
    t.match(await perform(first, deletion), { kind: 'done' })
    t.same(await seen(), [])
    const failure = await refusalOf(perform(first, deletion))
    t.match(failure, { code: 'bad_request', description: 'story not found' })
  })
}
