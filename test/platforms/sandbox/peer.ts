/** Another person of the sandbox, who acts and has an inbox of their own. */
import { contentName } from '../../../machines/model/content.ts'
import type { Received } from '../../../src/sandbox/people/inbox.ts'
import type { Network } from '../../../src/sandbox/sandbox.ts'
import type { Peer, Sight } from '../contract/harness.ts'
import { register } from './register.ts'

type Shown = Omit<Received, 'reactions' | 'keyboard' | 'isPinned'>

export async function peerOf(sandbox: Network, account: number): Promise<Peer> {
  const { actions, inboxes } = sandbox
  const { id, username, phone } = await register(sandbox)
  const place = ({ handle }: Sight) => ({ chat: account, message: Number(handle) })
  const read = () => inboxes.messages(id, { chat: account, limit: 100 })
  const until = async <Found>(
    find: (messages: readonly Received[]) => Found | undefined,
    signal: AbortSignal,
  ): Promise<Found> => {
    for (;;) {
      const found = find(await read())
      if (found !== undefined) return found
      signal.throwIfAborted()
      await nextTurn()
    }
  }
  const one = async ({ handle }: Sight) => {
    return (await read()).find(({ native }) => native === handle)!
  }
  return {
    chat: String(id),
    phone,
    publicName: { name: username!, chat: String(id) },
    write: async (text, { replyTo } = {}) => {
      const answering = replyTo && { replyTo: Number(replyTo.handle) }
      return sightOf(await actions.write(id, { to: account, text, ...answering }))
    },
    send: async (content) => {
      const [message] = await actions.send(id, { to: account, contents: [content] })
      return sightOf(message!)
    },
    edit: async (message, text) => {
      await actions.edit(id, place(message), { text })
    },
    reads: ({ handle }) => actions.read(id, account, Number(handle)),
    delete: (message) => actions.delete(id, place(message)),
    press: async (message, data, signal) => {
      const { answer } = await actions.press(id, place(message), data, signal)
      return answer ?? {}
    },
    keyboard: async () => {
      const standing = await inboxes.keyboards(id)
      return standing.find(({ chat }) => chat.native === String(account))?.keyboard
    },
    react: (message, emoji) => actions.react(id, place(message), emoji ? [{ emoji }] : []),
    reactIn: (chat, message, emoji) =>
      actions.react(id, { chat: Number(chat), message: Number(message) }, [{ emoji }]),
    seesStories: async () =>
      (await sandbox.people.stories(id, 100)).map(({ caption }) => caption.text),
    vote: async (message, options) => {
      await actions.vote(id, place(message), options)
    },
    follow: async (link) => {
      await actions.join(id, link)
    },
    sees: (text, signal) =>
      until((shown) => shown.map(sightOf).find((sight) => sight.text === text), signal),
    seesKind: (kind, signal) =>
      until((shown) => {
        const found = shown.filter(({ content }) => contentName(content) === kind).map(sightOf)
        return found.length > 0 ? found : undefined
      }, signal),
    look: async (message) => sightOf(await one(message)),
    seesReactions: async (message) =>
      (await one(message)).reactions.flatMap(({ reactions }) =>
        reactions.map((reaction) => ('emoji' in reaction ? reaction.emoji : '')),
      ),
    seesGone: async ({ handle }, signal) => {
      const isGone = (shown: readonly Received[]) => shown.every(({ native }) => native !== handle)
      await until((shown) => isGone(shown) || undefined, signal)
    },
    seesTyping: async (signal) => {
      while ((await inboxes.typing(id)).length === 0) {
        signal.throwIfAborted()
        await nextTurn()
      }
    },
    seesDrafts: async () => (await inboxes.drafts(id)).map(({ text }) => text.text),
    count: async (text) => (await read()).filter((message) => textOf(message) === text).length,
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function textOf({ content }: Shown): string {
  if (content.kind === 'media') return content.caption.text
  return content.kind === 'text' ? content.text : ''
}

function sightOf(message: Shown): Sight {
  const { content } = message
  return {
    handle: message.native,
    text: textOf(message),
    ...(content.kind !== 'text' && { content }),
    ...(message.album && { album: message.album }),
    ...(message.replyTo && { replyTo: message.replyTo.native }),
    ...(message.forward && { forwarded: true }),
    ...(message.buttons && { buttons: message.buttons }),
  }
}
