/** Every kind of content a platform declares goes both ways. */
import type { Test } from 'tap'
import { type Content, type ContentName, contentName } from '../../../machines/model/content.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { ContractHarness } from './harness.ts'
import { sentContent } from './message-operations.ts'
import { patience } from './recorder.ts'
import { contents } from './samples.ts'
import { able, need, scene, words } from './scene.ts'

export async function contentContract(t: Test, harness: ContractHarness) {
  const { capabilities } = harness.platform
  const declared = contents.filter((content) =>
    capabilities.content.some((name) => name === contentName(content)),
  )
  if (declared.length === 0) return
  await able(t, harness, ['peerContent'], 'both sides see what the other sends', async (t) => {
    const { first, peer, store } = await scene(t, harness)
    for (const sample of declared) {
      const name = contentName(sample) as ContentName
      await t.test(name, async (t) => {
        const content = await ready(harness, sample)
        const message = await sentContent(first, peer.chat, content)
        t.match(message.content, essenceOf(content), 'as it was sent')
        if (message.content.kind === 'dice') t.ok(message.content.value > 0, 'it was thrown')
        const [seen] = await need(peer.seesKind, 'peerContent').call(peer, name, patience())
        t.match(seen!.content, essenceOf(content), 'as the other side sees it')

        const given = await ready(harness, sample)
        await need(peer.send, 'peerContent').call(peer, given)
        const happening = await store.until(() => store.happenings.find(carries(name)))
        t.match(happening, { direction: 'incoming', message: { content: essenceOf(given) } })
      })
    }
  })
}

/** With a file and a caption of its own. */
async function ready(harness: ContractHarness, sample: Content): Promise<Content> {
  if (sample.kind !== 'media') return sample
  const { kind } = sample.media
  const media = await need(harness.file, 'peerContent').call(harness, kind)
  const isBare = kind === 'sticker' || kind === 'video_note'
  return { ...sample, media, caption: { text: isBare ? '' : words(kind), entities: [] } }
}

/** What no network may lose. */
function essenceOf(content: Content): object {
  switch (content.kind) {
    case 'media': {
      const { kind, size } = content.media
      const text = content.caption.text
      // A network may write pictures anew.
      const isPicture = kind === 'photo' || kind === 'sticker'
      const media = { kind, size: isPicture ? Number : size, file: { native: String } }
      return { kind: 'media', media, caption: { text } }
    }
    case 'poll': {
      const { question, options } = content.poll
      const texts = options.map(({ text: { text } }) => ({ text: { text } }))
      const poll = { id: String, question: { text: question.text }, options: texts }
      return { kind: 'poll', poll: { ...poll, isClosed: false } }
    }
    case 'dice':
      return { kind: 'dice', emoji: content.emoji, value: Number }
    default:
      return content
  }
}

export const carries =
  (name: ContentName) =>
  (happening: Happening): boolean =>
    happening.kind === 'message' && contentName(happening.message.content) === name
