/** Round trips of the operations about topics, drafts and sticker sets. */
import type { Topic } from '../../../machines/model/topic.ts'
import type { ContractHarness, Forum } from './harness.ts'
import type { Checks } from './message-operations.ts'
import { patience } from './recorder.ts'
import { need, perform, refusalOf, type Scene, sending, sent, words } from './scene.ts'

const done = { kind: 'done' }

export const topicChecks: Checks = {
  create_topic: [
    'a topic is begun, and both sides write in it',
    async (t, stage, harness) => {
      const { forum, topic } = await begun(stage, harness)
      t.ok(topic.iconColor >= 0)
      const said = await sent(stage.first, forum.chat, words('said'), { topic: topic.native })
      t.match(said, { chat: { isForum: true }, topic: { native: topic.native } })
      const heard = words('heard')
      await forum.write(heard, topic.native)
      t.match(await stage.store.message(heard), { message: { topic: { native: topic.native } } })
    },
    'forum',
  ],
  edit_topic: [
    'a topic gets another name',
    async (t, stage, harness) => {
      const { forum, topic } = await begun(stage, harness)
      const edit = {
        kind: 'edit_topic',
        chat: forum.chat,
        topic: topic.native,
        name: words('name'),
      } as const
      t.match(await perform(stage.first, edit), done)
      const again = await refusalOf(perform(stage.first, edit))
      t.match(again, { code: 'bad_request', description: 'TOPIC_NOT_MODIFIED' })
    },
    'forum',
  ],
  close_topic: [
    'nobody else writes in a closed topic',
    async (t, stage, harness) => {
      const { forum, topic } = await begun(stage, harness)
      const place = { chat: forum.chat, topic: topic.native }
      t.match(await perform(stage.first, { kind: 'close_topic', ...place }), done)
      const failure = await refusalOf(forum.write(words('too late'), topic.native))
      t.match(failure, { code: 'bad_request', description: 'TOPIC_CLOSED' })
    },
    'forum',
  ],
  reopen_topic: [
    'in a topic that was opened again everybody writes',
    async (t, stage, harness) => {
      const { forum, topic } = await begun(stage, harness)
      const place = { chat: forum.chat, topic: topic.native }
      await perform(stage.first, { kind: 'close_topic', ...place })
      t.match(await perform(stage.first, { kind: 'reopen_topic', ...place }), done)
      const text = words('in time')
      await forum.write(text, topic.native)
      t.match(await stage.store.message(text), { message: { topic: { native: topic.native } } })
    },
    'forum',
  ],
  delete_topic: [
    'a topic is deleted with its messages',
    async (t, stage, harness) => {
      const { forum, topic } = await begun(stage, harness)
      const { first } = stage
      const { native } = await sent(first, forum.chat, words('gone'), { topic: topic.native })
      const place = { chat: forum.chat, topic: topic.native }
      t.match(await perform(first, { kind: 'delete_topic', ...place }), done)
      const text = sending(forum.chat, words('nowhere'), { topic: topic.native })
      t.match(await refusalOf(perform(first, text)), { description: 'message thread not found' })
      const copy = { kind: 'copy', chat: forum.chat, from: forum.chat, message: native } as const
      t.match(await refusalOf(perform(first, copy)), { description: 'message to copy not found' })
    },
    'forum',
  ],
  draft: [
    'a text is seen while it is written, until it is sent',
    async (t, { first, peer }) => {
      const see = need(peer.seesDrafts, 'peerDrafts').bind(peer)
      const [begins, goesOn] = [words('begins'), words('goes on')]
      for (const text of [begins, goesOn]) {
        const shown = { text, entities: [] }
        const draft = { kind: 'draft', chat: peer.chat, draft: 7, text: shown } as const
        t.match(await perform(first, draft), done)
        t.strictSame(await see(), [text])
      }
      await sent(first, peer.chat, goesOn)
      t.strictSame(await see(), [])
      t.equal(await peer.count(begins), 0)
    },
    'peerDrafts',
  ],
  sticker_set: [
    'a sticker set is found, and its stickers are sent',
    async (t, { first, peer }, harness) => {
      const name = await need(harness.stickerSet, 'stickerSet').call(harness)
      const result = await perform(first, { kind: 'sticker_set', name })
      if (result.kind !== 'stickers') throw new Error('a sticker set resolves with its stickers')
      const [media] = result.set.stickers
      t.match(media, { kind: 'sticker', setName: name, emoji: String })
      const content = { kind: 'media', media: media!, caption: { text: '', entities: [] } } as const
      const send = { kind: 'send', chat: peer.chat, content } as const
      t.match(await perform(first, send), { message: { content: { media: { setName: name } } } })
      const [seen] = await need(peer.seesKind, 'peerContent').call(peer, 'sticker', patience())
      t.match(seen?.content, { media: { setName: name } })
    },
    'stickerSet',
    'peerContent',
  ],
}

/** A topic in a forum of the account's own. */
async function begun(
  { account, peer, first }: Scene,
  harness: ContractHarness,
): Promise<{ forum: Forum; topic: Topic }> {
  const forum = await need(harness.forum, 'forum').call(harness, account, peer)
  const name = words('topic')
  const result = await perform(first, { kind: 'create_topic', chat: forum.chat, name })
  if (result.kind !== 'topic' || result.topic.name !== name) {
    throw new Error('a new topic resolves with itself')
  }
  return { forum, topic: result.topic }
}
