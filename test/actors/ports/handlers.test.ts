/** An operation is carried out by its entry in the table; without one it is refused. */
import t from 'tap'
import { type Handlers, handle, operationsOf } from '../../../actors/ports/platform.ts'
import { refused } from '../refused.ts'

const handlers: Handlers<{ readonly name: string }> = {
  set_title: async ({ name }, { title }) => ({
    kind: 'chat',
    chat: { native: name, surface: 'group', title },
  }),
  unpin_all: async () => ({ kind: 'done' }),
}

t.test('the handler gets the context and the operation', async (t) => {
  const operation = { kind: 'set_title', chat: '1', title: 'New' } as const
  const result = await handle(handlers, 'Nowhere', { name: 'here' }, operation)
  t.strictSame(result, { kind: 'chat', chat: { native: 'here', surface: 'group', title: 'New' } })
})

t.test('an operation without an entry is not supported', async (t) => {
  const description = 'leave is not supported on Nowhere'
  const leave = { kind: 'leave', chat: '1' } as const
  const asked = async () => handle(handlers, 'Nowhere', { name: 'here' }, leave)
  await refused(t, asked(), { code: 'bad_request', description })
})

t.test('the operations of a network are the keys of its table', async (t) => {
  t.strictSame(operationsOf(handlers), ['set_title', 'unpin_all'])
})
