/** What two gateways answer, without what differs from one sending to the next. */

const passing = [
  'message_id',
  'message_thread_id',
  'media_group_id',
  'update_id',
  'date',
  'edit_date',
  'forward_date',
  'reply_to_message_id',
  'file_id',
  'file_unique_id',
]
const moving = ['id', 'value', 'invite_link']

export function lasting(value: unknown, holder = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => lasting(item, holder))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isMoving = ['poll', 'dice', 'callback_query'].includes(holder) && moving.includes(name)
      return [name, passing.includes(name) || isMoving ? typeof member : lasting(member, name)]
    }),
  )
}
