/** Looking into an inbox and waiting for whatever changes in it, not only for messages. */
import t from 'tap'
import { sandboxServer } from './sandbox-rig.ts'

const { ask, result, person } = await sandboxServer(t)

t.test('who knows the tag waits for any change of what is seen', async (t) => {
  const ada = await person('Ada')
  const bob = await person('Bob')
  const inbox = `/sandbox/people/${ada.id}/inbox`
  const hand = `/sandbox/people/${bob.id}`
  const first = await result(`GET ${inbox}`)
  t.match(first, { tag: /^[\w-]{43}$/, messages: { length: 0 } })
  t.equal((await result(`GET ${inbox}?known=${first.tag}`)).tag, first.tag, 'nothing is new')

  let known = first.tag
  const changed = async (act: () => Promise<unknown>) => {
    const waiting = result(`GET ${inbox}?known=${known}&wait_seconds=20`)
    await act()
    const seen = await waiting
    t.not(seen.tag, known)
    known = seen.tag
    return seen
  }
  const { messages } = await changed(() =>
    result(`POST ${hand}/messages`, { to: ada.id, text: 'hi' }),
  )
  t.match(messages, [{ text: 'hi' }])
  const { message_id } = messages[0]
  const at = `${hand}/chats/${ada.id}/messages/${message_id}`
  t.match(await changed(() => result(`PATCH ${at}`, { text: 'hello' })), {
    messages: [{ text: 'hello' }],
  })
  const reactions = { reactions: [{ emoji: '👍' }] }
  t.match(await changed(() => result(`PUT ${at}/reactions`, reactions)), {
    messages: [reactions],
  })
  t.match(await changed(() => result(`POST ${hand}/typing`, { to: ada.id })), {
    typing: [{ action: 'typing' }],
  })
  t.match(await changed(() => result(`DELETE ${at}`)), { messages: { length: 0 } })
})

t.test('a tag that is none is refused', async (t) => {
  const { id } = await person('Eve')
  t.match(await ask(`GET /sandbox/people/${id}/inbox?known=${'x'.repeat(65)}`), { status: 400 })
})
