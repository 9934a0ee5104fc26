/** Each request of an operation to Telegram fails in turn: nobody is told that nothing was done when something was. */
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../machines/model/operation.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { RpcRefusal } from '../support/telegram-dc/data-centre.ts'
import { contents } from './contract/samples.ts'
import { perform, sending, sent } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.setTimeout(300_000)
const stage = await Stage.start(t)
const { network } = stage
let numbers = 0
const text = () => `text ${++numbers}`
const words = () => ({ text: text(), entities: [] })
const picture = () => ({
  kind: 'media' as const,
  media: stage.file('photo', Buffer.alloc(2_000, text())),
  caption: words(),
})

const poll = contents.find(({ kind }) => kind === 'poll')!

/** An account that nothing has slowed down yet, and what its operations are about. */
async function scene(t: Test) {
  const { person, friend, open } = await live(t, stage)
  const group = network.channel(person, [friend], false)
  const session = await open()
  const chat = `${friend.id}`
  const place = nativeOfPlace(group)
  const message = async (native = chat) => (await sent(session, native, text())).native
  /** What others see. */
  const standing = () => inspect([friend.messages, group], { depth: 8, maxArrayLength: null })
  return { session, chat, group, place, message, standing }
}
type Scene = Awaited<ReturnType<typeof scene>>

/** Each makes what the operation needs. */
const operations: Readonly<Record<string, (scene: Scene) => Promise<Operation>>> = {
  'a text': async ({ chat }) => sending(chat, text()),
  'a text to a group': async ({ place }) => sending(place, text()),
  'a reply': async ({ chat, message }) => sending(chat, text(), { replyTo: await message() }),
  'a picture': async ({ chat }) => ({ kind: 'send', chat, content: picture() }),
  'a poll': async ({ place }) => ({ kind: 'send', chat: place, content: poll }),
  'an album': async ({ chat }) => ({
    kind: 'send_album',
    chat,
    contents: [picture(), picture()],
  }),
  'an edit': async ({ chat, message }) => ({
    kind: 'edit',
    chat,
    message: await message(),
    content: { kind: 'text', ...words() },
  }),
  'a message passed on': async ({ chat, place, message }) => ({
    kind: 'forward',
    chat: place,
    from: chat,
    message: await message(),
  }),
  'a copy': async ({ chat, place, message }) => ({
    kind: 'copy',
    chat: place,
    from: chat,
    message: await message(),
  }),
  'a deletion': async ({ chat, message }) => ({ kind: 'delete', chat, message: await message() }),
  'a pin': async ({ place, message }) => ({
    kind: 'pin',
    chat: place,
    message: await message(place),
  }),
  'another caption': async ({ session, chat }) => {
    const made = await perform(session, { kind: 'send', chat, content: picture() })
    return { kind: 'edit_caption', chat, message: messageIn(made), caption: words() }
  },
  'the end of a poll': async ({ session, place }) => {
    const made = await perform(session, { kind: 'send', chat: place, content: poll })
    return { kind: 'stop_poll', chat: place, message: messageIn(made) }
  },
  'a reaction': async ({ chat, message }) => ({
    kind: 'react',
    chat,
    message: await message(),
    reactions: [{ emoji: '👍' }],
  }),
  'pins taken away': async ({ session, place, message }) => {
    await perform(session, { kind: 'pin', chat: place, message: await message(place) })
    return { kind: 'unpin_all', chat: place }
  },
  'a ban': async ({ chat, place }) => ({ kind: 'ban', chat: place, person: chat }),
  'a member removed': async ({ chat, place }) => ({
    kind: 'unban',
    chat: place,
    person: chat,
    onlyIfBanned: false,
  }),
  'a promotion': async ({ chat, place }) => ({
    kind: 'promote',
    chat: place,
    person: chat,
    rights: ['pin_messages'],
  }),
  'the end of a topic': async ({ session, group, place }) => {
    group.isForum = true
    const made = await perform(session, { kind: 'create_topic', chat: place, name: text() })
    if (made.kind !== 'topic') throw new Error('There is no topic')
    return { kind: 'delete_topic', chat: place, topic: made.topic.native }
  },
  'another name of a link': async ({ session, place }) => ({
    kind: 'edit_invite',
    chat: place,
    link: await linkTo(session, place),
    name: text(),
  }),
  'the end of a link': async ({ session, place }) => ({
    kind: 'revoke_invite',
    chat: place,
    link: await linkTo(session, place),
  }),
  'a title': async ({ place }) => ({ kind: 'set_title', chat: place, title: text() }),
  'a link': async ({ place }) => ({ kind: 'invite', chat: place, primary: false, name: text() }),
}

function messageIn(made: OperationResult): string {
  if (made.kind !== 'message') throw new Error('There is no message')
  return made.message.native
}

async function linkTo(session: Scene['session'], chat: string): Promise<string> {
  const made = await perform(session, { kind: 'invite', chat, primary: false, name: text() })
  if (made.kind !== 'invite') throw new Error('There is no link')
  return made.invite.link
}

type Between = (typeof network)['between']
const faults: Readonly<Record<string, Between>> = {
  'has to wait': async (name, carryOut) => {
    // Parts of files wait as long as it takes.
    if (name.startsWith('upload.')) return carryOut()
    throw new RpcRefusal(420, 'FLOOD_WAIT_70')
  },
  'fails before': async () => {
    throw new RpcRefusal(500, 'RPC_CALL_FAIL')
  },
  'fails after': async (_, carryOut) => {
    await carryOut()
    throw new RpcRefusal(500, 'RPC_CALL_FAIL')
  },
}

const ALWAYS = -1

interface Outcome {
  readonly asked: readonly string[]
  readonly failure?: Failure
  /** What it said of what was not so. */
  readonly told?: string
}

async function attempt(
  t: Test,
  make: (scene: Scene) => Promise<Operation>,
  at: number,
  fault: Between,
): Promise<Outcome> {
  const made = await scene(t)
  const operation = await make(made)
  const before = made.standing()
  const asked: string[] = []
  network.between = (name, carryOut) => {
    // The account looks for what is new at times.
    if (name.startsWith('updates.')) return carryOut()
    return asked.push(name) === at + 1 || at === ALWAYS ? fault(name, carryOut) : carryOut()
  }
  try {
    await perform(made.session, operation)
    return { asked }
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    const { code, description, certain } = cause.failure
    const isTrue = certain === false || code === 'timeout' || made.standing() === before
    return { asked, failure: cause.failure, ...(!isTrue && { told: `${code} ${description}` }) }
  } finally {
    network.between = (_, carryOut) => carryOut()
  }
}

for (const [name, make] of Object.entries(operations)) {
  t.test(name, { timeout: 100_000 }, async (t) => {
    const { asked } = await attempt(t, make, Infinity, (_, carryOut) => carryOut())
    t.ok(asked.length > 0, asked.join(' '))
    for (const [fault, between] of Object.entries(faults)) {
      for (const [at, request] of asked.entries()) {
        const { told } = await attempt(t, make, at, between)
        t.equal(told, undefined, `${request} ${fault}`)
      }
    }
  })
}

const bare = { _: 'updates', updates: [], users: [], chats: [], date: 0, seq: 0 }
/** Answers of the network that say less than usual, to the first request of this name. */
const incomplete: readonly (readonly [string, string, (answer: object) => object])[] = [
  ['an edit', 'messages.editMessage', () => bare],
  ['another caption', 'messages.editMessage', () => bare],
  ['the end of a poll', 'messages.editMessage', () => bare],
  ['a link', 'messages.exportChatInvite', () => ({ _: 'chatInvitePublicJoinRequests' })],
  ['the end of a topic', 'messages.deleteTopicHistory', (answer) => ({ ...answer, offset: 1 })],
]

for (const [name, request, answer] of incomplete) {
  t.test(`${name}, of which the network does not say all`, async (t) => {
    for (const word of ['FLOOD_WAIT_70', 'RPC_CALL_FAIL']) {
      let isDone = false
      const { told, failure } = await attempt(
        t,
        operations[name]!,
        ALWAYS,
        async (asked, carryOut) => {
          if (isDone) throw new RpcRefusal(word.startsWith('FLOOD') ? 420 : 500, word)
          isDone = asked === request
          return isDone ? answer((await carryOut()) as object) : carryOut()
        },
      )
      t.ok(isDone)
      t.match(failure, { certain: false }, word)
      t.equal(told, undefined, word)
    }
  })
}
