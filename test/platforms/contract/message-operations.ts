/** Round trips of the operations about messages that are more than texts. */
import type { Test } from 'tap'
import type { Content, Message } from '../../../machines/model/content.ts'
import type { Operation, OperationKind } from '../../../machines/model/operation.ts'
import type { Ability, ContractHarness } from './harness.ts'
import { patience, type Run } from './recorder.ts'
import { contents } from './samples.ts'
import { need, perform, type Scene, sent, words } from './scene.ts'

type Check = (t: Test, scene: Scene, harness: ContractHarness) => Promise<void>
export type Checks = Partial<
  Record<OperationKind, readonly [sentence: string, check: Check, ...needs: Ability[]]>
>

export const messageChecks: Checks = {
  send_album: [
    'several files are one album, in their order',
    async (t, { first, peer }, harness) => {
      const captions = [words('one'), words('two'), words('three')]
      const items: MediaContent[] = []
      for (const caption of captions) items.push(await fileContent(harness, caption))
      const operation = { kind: 'send_album', chat: peer.chat, contents: items } as const
      const requestId = crypto.randomUUID()
      const result = await perform(first, operation, requestId)
      if (result.kind !== 'messages') throw new Error('an album resolves with its messages')
      t.strictSame(result.messages.map(captionOf), captions)
      const [key] = result.messages.map(({ album }) => album)
      t.ok(key)
      t.ok(result.messages.every(({ album }) => album === key))
      const seen = await Promise.all(captions.map((caption) => peer.sees(caption, patience())))
      t.ok(seen[0]!.album)
      t.ok(seen.every(({ album }) => album === seen[0]!.album))
      if (harness.absent.deduplication) return
      t.match(await perform(first, operation, requestId), result, 'the same album again')
      t.equal(await peer.count(captions[0]!), 1)
    },
    'peerContent',
  ],
  edit_caption: [
    'a caption is changed, and the file stays',
    async (t, { first, peer }, harness) => {
      const content = await fileContent(harness, words('before'))
      const message = await sentContent(first, peer.chat, content)
      const after = { text: words('after'), entities: [] }
      const target = { chat: peer.chat, message: message.native }
      const result = await perform(first, { kind: 'edit_caption', ...target, caption: after })
      t.match(result, { message: { content: { caption: after, media: { kind: 'document' } } } })
      t.match(await peer.sees(after.text, patience()), { content: { kind: 'media' } })
    },
    'peerContent',
  ],
  edit_buttons: [
    'buttons are changed, and taken away',
    async (t, { first, peer }) => {
      const text = words('buttons')
      const buttons = [[{ text: 'Yes', data: 'yes' }]]
      const { native } = await sent(first, peer.chat, text)
      const target = { kind: 'edit_buttons', chat: peer.chat, message: native } as const
      t.match(await perform(first, { ...target, buttons }), { message: { buttons } })
      t.match(await peer.sees(text, patience()), { buttons: [[{ text: 'Yes' }]] })
      await perform(first, target)
      t.equal((await peer.sees(text, patience())).buttons, undefined)
    },
  ],
  edit_location: [
    'a live location moves, and ends',
    async (t, { first, peer }) => {
      const live = { kind: 'location', latitude: 1, longitude: 2, liveSeconds: 600 } as const
      const { native } = await sentContent(first, peer.chat, live)
      const [seen] = await need(peer.seesKind, 'peerContent').call(peer, 'location', patience())
      const target = { kind: 'edit_location', chat: peer.chat, message: native } as const
      await perform(first, { ...target, location: { latitude: 3, longitude: 4 } })
      const look = need(peer.look, 'peerContent').bind(peer)
      t.match(await look(seen!), { content: { latitude: 3, longitude: 4, liveSeconds: 600 } })
      await perform(first, target)
      t.match(await look(seen!), { content: { latitude: 3, liveSeconds: undefined } })
    },
    'peerContent',
  ],
  stop_poll: [
    'a poll is ended',
    async (t, { first, peer }) => {
      const { native } = await sentContent(first, peer.chat, samplePoll)
      const [seen] = await need(peer.seesKind, 'peerContent').call(peer, 'poll', patience())
      const target = { kind: 'stop_poll', chat: peer.chat, message: native } as const
      t.match(await perform(first, target), { kind: 'poll', poll: { isClosed: true } })
      const look = need(peer.look, 'peerContent').bind(peer)
      t.match(await look(seen!), { content: { poll: { isClosed: true } } })
    },
    'peerContent',
  ],
  react: [
    'a reaction is given, and taken back',
    async (t, { first, peer, store }) => {
      const text = words('react')
      const seen = await peer.write(text)
      const happening = await store.message(text)
      if (happening.kind !== 'message') throw new Error('not a message')
      const target = { chat: peer.chat, message: happening.message.native }
      const react = (...reactions: { emoji: string }[]): Operation => {
        return { kind: 'react', ...target, reactions }
      }
      const shown = () => need(peer.seesReactions, 'peerOpinions').call(peer, seen)
      t.match(await perform(first, react({ emoji: '👍' })), { kind: 'done' })
      t.strictSame(await shown(), ['👍'])
      await perform(first, react())
      t.strictSame(await shown(), [])
    },
    'peerOpinions',
  ],
}

export type MediaContent = Content & { readonly kind: 'media' }

export async function fileContent(harness: ContractHarness, caption = ''): Promise<MediaContent> {
  const media = await need(harness.file, 'peerContent').call(harness, 'document')
  return { kind: 'media', media, caption: { text: caption, entities: [] } }
}

export async function sentContent(run: Run, chat: string, content: Content): Promise<Message> {
  const result = await perform(run, { kind: 'send', chat, content })
  if (result.kind !== 'message') throw new Error('a send resolves with the message')
  return result.message
}

export const samplePoll = contents.find(({ kind }) => kind === 'poll')!

const captionOf = ({ content }: Message) => (content.kind === 'media' ? content.caption.text : '')
