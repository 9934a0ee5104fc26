/** `permissions` of a call: what members may do, some of it implied by the rest. */
import { failed } from '../../../machines/model/failure.ts'
import { PERMISSIONS, type Permission } from '../../../machines/model/rights.ts'
import { Arguments } from '../arguments.ts'

export const permissions = {
  permissions: 'json',
  use_independent_chat_permissions: 'boolean',
} as const

const MEDIA: readonly Permission[] = [
  'send_audios',
  'send_documents',
  'send_photos',
  'send_videos',
  'send_video_notes',
  'send_voice_notes',
]

/** What is not spoken of goes with another. */
const WITH: readonly (readonly [name: Permission, source: Permission])[] = [
  ['manage_topics', 'pin_messages'],
  ['edit_tag', 'pin_messages'],
  ['react_to_messages', 'send_messages'],
]

const bad = (description: string) => failed('bad_request', description)

/** A ChatPermissions object; `can_send_media_messages` is what all media were called together before. */
export function permissionsOf(args: Arguments): Permission[] {
  const given = args.json('permissions')
  if (given === undefined) throw bad("can't parse permissions JSON object")
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw bad('object expected as permissions')
  }
  const wanted = Arguments.from(given)
  const may = new Set(PERMISSIONS.filter((name) => wanted.boolean(`can_${name}`)))
  const add = (names: readonly Permission[]) => {
    for (const name of names) may.add(name)
  }
  const tellsMediaApart = MEDIA.some((name) => wanted.isGiven(`can_${name}`))
  if (!tellsMediaApart && wanted.boolean('can_send_media_messages')) add(MEDIA)
  if (!args.boolean('use_independent_chat_permissions')) {
    if (may.has('send_other_messages') || may.has('add_web_page_previews')) {
      add([...MEDIA, 'send_messages'])
    }
    if (may.has('send_polls')) add(['send_messages'])
  }
  for (const [name, source] of WITH) {
    if (!wanted.isGiven(`can_${name}`) && may.has(source)) add([name])
  }
  return PERMISSIONS.filter((name) => may.has(name))
}
