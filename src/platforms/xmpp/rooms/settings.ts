/** The settings of a room that its owners change: the form of the room is sent back with one answer changed (XEP-0045). */
import { type Element, xml } from '@xmpp/client'
import { failed } from '../../../../machines/model/failure.ts'
import { serverAway, unreachable } from '../failures.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'

const settings = {
  title: { field: 'muc#roomconfig_roomname', refusal: 'not enough rights to change chat title' },
  description: {
    field: 'muc#roomconfig_roomdesc',
    refusal: 'not enough rights to set chat description',
  },
} as const

export async function setRoom(
  requests: Requests,
  room: string,
  setting: keyof typeof settings,
  value: string,
  signal: AbortSignal,
): Promise<void> {
  const { field, refusal } = settings[setting]
  try {
    const asked = await requests.ask('get', xml('query', ns.mucOwner), { to: room, signal })
    const form = asked.getChild('query', ns.mucOwner)?.getChild('x', ns.form)
    const fields = form?.getChildren('field') ?? []
    if (!fields.some(({ attrs }) => attrs.var === field)) throw failed('bad_request', refusal)
    const answers = fields.flatMap((each) =>
      each.attrs.var === field ? answer(field, [value]) : kept(each),
    )
    const submit = xml('x', { xmlns: ns.form, type: 'submit' }, ...answers)
    await requests.change(xml('query', ns.mucOwner, submit), { to: room, signal })
  } catch (cause) {
    if (!(cause instanceof RequestRefused)) throw cause
    if (unreachable.has(cause.condition)) throw serverAway(cause)
    throw failed('bad_request', refusal, {}, { cause })
  }
}

function kept(field: Element): Element | [] {
  const { var: name, type } = field.attrs
  if (!name || type === 'fixed') return []
  return answer(
    name,
    field.getChildren('value').map((value) => value.getText()),
  )
}

const answer = (name: string, values: readonly string[]) =>
  xml('field', { var: name }, ...values.map((value) => xml('value', {}, value)))
