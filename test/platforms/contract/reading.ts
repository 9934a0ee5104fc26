/** An account reads its chats: the list of them, what was written before, and how far it is read. */
import type { Message } from '../../../machines/model/content.ts'
import type { OperationResult } from '../../../machines/model/operation.ts'
import { until } from '../../support/client.ts'
import type { Checks } from './message-operations.ts'
import { need, perform, type Scene, sent, words } from './scene.ts'

export const readingChecks: Checks = {
  list_chats: [
    'the chats are listed with their newest messages, page by page',
    async (t, { first, peer, store }) => {
      const mine = words('mine')
      await sent(first, peer.chat, mine)
      const theirs = words('theirs')
      await peer.write(theirs)
      await store.message(theirs)
      const listed = await until(async () => {
        const { chats } = await list(first)
        const found = chats.find(({ chat }) => chat.native === peer.chat)
        return textOf(found?.last?.message) === theirs && found
      })
      t.match(listed, { chat: { native: peer.chat, surface: 'private' }, last: { isOwn: false } })
      if (listed.unread !== undefined) t.ok(listed.unread > 0, 'what nobody has read counts')
      const seen: string[] = []
      for (let after: string | undefined, page = 0; page < 20; page++) {
        const { chats, next }: Listed = await list(first, { limit: 1, ...(after && { after }) })
        seen.push(...chats.map(({ chat }) => chat.native))
        after = next
        if (after === undefined) break
      }
      t.equal(seen.filter((chat) => chat === peer.chat).length, 1, 'each chat is on one page')
    },
  ],
  read_history: [
    'a chat is read back from its newest message on',
    async (t, { first, peer, store }) => {
      const texts = [words('one'), words('two'), words('three')]
      const [one, two, three] = texts as [string, string, string]
      await sent(first, peer.chat, one)
      await peer.write(two)
      const told = await store.message(two)
      await sent(first, peer.chat, three)
      const whole = await until(async () => {
        const past = await history(first, peer.chat, { limit: 3 })
        return past.length === 3 && textOf(past[0]?.message) === three && past
      })
      t.strictSame(
        whole.map(({ message, isOwn }) => [textOf(message), isOwn]),
        [
          [three, true],
          [two, false],
          [one, true],
        ],
      )
      const { native } = told.kind === 'message' ? told.message : { native: '' }
      t.equal(whole[1]?.message.native, native, 'a message has the id by which it was reported')
      const before = await history(first, peer.chat, { limit: 1, message: native })
      t.match(before, [{ message: { content: { text: one } } }])
    },
  ],
  mark_read: [
    'a chat is marked as read',
    async (t, { first, peer, store }) => {
      const text = words('unread')
      await peer.write(text)
      const told = await store.message(text)
      const { native } = told.kind === 'message' ? told.message : { native: '' }
      const unread = async () => {
        const { chats } = await list(first)
        return chats.find(({ chat }) => chat.native === peer.chat)?.unread
      }
      const before = await unread()
      const marking = { kind: 'mark_read', chat: peer.chat } as const
      t.match(await perform(first, { ...marking, message: native }), { kind: 'done' })
      if (before !== undefined) t.equal(await unread(), 0)
      t.match(await perform(first, marking), { kind: 'done' }, 'all of the chat')
    },
  ],
  resolve_phone: [
    'a person is found by their phone',
    async (t, { first, peer }) => {
      const phone = need(peer.phone, 'phone')
      const found = await perform(first, { kind: 'resolve_phone', phone })
      t.match(found, { kind: 'person', person: { native: peer.chat } })
      const nobody = await perform(first, { kind: 'resolve_phone', phone: '+999000000001' })
      t.strictSame(nobody, { kind: 'person' })
    },
    'phone',
  ],
}

type Listed = Extract<OperationResult, { kind: 'chats' }>

async function list(first: Scene['first'], more: object = {}): Promise<Listed> {
  const result = await perform(first, { kind: 'list_chats', limit: 50, ...more })
  if (result.kind !== 'chats') throw new Error('a list resolves with the chats')
  return result
}

async function history(
  first: Scene['first'],
  chat: string,
  more: { readonly limit: number; readonly message?: string },
) {
  const result = await perform(first, { kind: 'read_history', chat, ...more })
  if (result.kind !== 'history') throw new Error('a history resolves with messages')
  return result.messages
}

const textOf = (message: Message | undefined) =>
  message?.content.kind === 'text' ? message.content.text : undefined
