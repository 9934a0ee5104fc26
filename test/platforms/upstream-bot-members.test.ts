/** Members and chats of the reference, where a server tells more or less of them than others. */
import t from 'tap'
import { fullChatOf } from '../../src/platforms/upstream-bot/reading/chat.ts'
import { permissionsOf } from '../../src/platforms/upstream-bot/reading/membership.ts'
import { happeningOf } from '../../src/platforms/upstream-bot/reading/update.ts'

const ada = { id: 42, is_bot: false, first_name: 'Ada' }
const group = { id: -1001234567890, type: 'supergroup', title: 'Group' }

t.test('somebody restricted may be away, and may have come in by asking', async (t) => {
  const change = {
    chat: group,
    from: ada,
    date: 1_700_000_000,
    old_chat_member: { status: 'left', user: ada },
    new_chat_member: { status: 'restricted', user: ada, is_member: false, can_send_polls: true },
  }
  const read = (chat_member: object) =>
    happeningOf({ update_id: 7, chat_member }, { self: '1', now: 1_800_000_000 })
  t.match(read({ ...change, via_join_request: true }), {
    after: { status: 'restricted', permissions: ['send_polls'], isOutside: true },
    viaRequest: true,
  })
  const there = { ...change.new_chat_member, is_member: true }
  t.match(read({ ...change, new_chat_member: there }), {
    after: { isOutside: undefined },
    viaRequest: undefined,
  })
})

t.test('a group that becomes a supergroup tells where to, and that one where from', async (t) => {
  const read = (carried: object) => {
    const message = { message_id: 5, date: 1_700_000_000, chat: group, from: ada, ...carried }
    return happeningOf({ update_id: 7, message }, { self: '1', now: 1_800_000_000 })
  }
  const content = { kind: 'service', fact: 'moved_to', chat: '-1001234567890' }
  t.match(read({ migrate_to_chat_id: -1001234567890 }), { message: { content } })
  t.match(read({ migrate_from_chat_id: -55 }), {
    message: { content: { kind: 'service', fact: 'moved_from', chat: '-55' } },
  })
})

t.test('a permission that a server does not know of goes with another', async (t) => {
  const older = { can_send_messages: true, can_send_polls: false, can_pin_messages: false }
  t.same(permissionsOf(older), ['send_messages', 'react_to_messages'])
  t.same(permissionsOf({ ...older, can_react_to_messages: false }), ['send_messages'])
  t.same(permissionsOf({ can_pin_messages: true }), ['pin_messages', 'manage_topics', 'edit_tag'])
  t.same(permissionsOf({ can_react_to_messages: true }), ['react_to_messages'])
})

t.test('a chat that asks its administrators who may come in says so', async (t) => {
  t.match(fullChatOf({ ...group, join_by_request: true }), { needsApproval: true })
  t.notOk('needsApproval' in fullChatOf(group))
})
