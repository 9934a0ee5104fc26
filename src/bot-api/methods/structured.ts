/** Methods that send what is neither text nor a file: places, contacts, dice, checklists. */

import type { Content } from '../../../machines/model/content.ts'
import { badRequest, failed } from '../../../machines/model/failure.ts'
import type { Location, Venue } from '../../../machines/model/location.ts'
import type { Checklist, ChecklistTask } from '../../../machines/model/poll.ts'
import { Arguments } from '../arguments.ts'
import { type Call, type Method, result } from '../method.ts'
import {
  changeParameters,
  edit,
  ephemeralParameters,
  send,
  sendParameters,
  suggestParameters,
} from '../sending.ts'
import { taskTextOf, titleOf } from '../text.ts'

const DICE = ['🎲', '🎯', '🏀', '⚽', '🎳', '🎰']

const FOREVER = 0x7fffffff

const place = {
  latitude: 'number',
  longitude: 'number',
  horizontal_accuracy: 'number',
} as const

const live = {
  live_period: 'integer',
  heading: 'integer',
  proximity_alert_radius: 'integer',
} as const

const sender = { scope: 'bot:send', operation: 'send', sends: true } as const

export const liveLocation = { ...place, ...live }

/** Throws in the reference's words if the coordinates are out of range. */
export function locationOf(args: Arguments): Location {
  const [latitude, longitude] = [args.number('latitude'), args.number('longitude')]
  if (!args.has('latitude')) throw failed('bad_request', 'latitude is empty')
  if (!args.has('longitude')) throw failed('bad_request', 'longitude is empty')
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) {
    throw failed('bad_request', 'wrong location specified')
  }
  const accuracy = Math.min(1_500, Math.max(0, args.number('horizontal_accuracy')))
  const liveSeconds = args.integer('live_period', { min: 0, max: FOREVER })
  const heading = args.integer('heading', { min: 0, max: 360 })
  const alertDistance = args.integer('proximity_alert_radius', { min: 0, max: 100_000 })
  if (liveSeconds !== 0 && liveSeconds !== FOREVER && (liveSeconds < 60 || liveSeconds > 86_400)) {
    throw failed('bad_request', 'wrong live location period specified')
  }
  return {
    latitude,
    longitude,
    ...(accuracy > 0 && { accuracy }),
    ...(liveSeconds > 0 && { liveSeconds }),
    ...(heading > 0 && { heading }),
    ...(alertDistance > 0 && { alertDistance }),
  }
}

const sendLocation: Method = {
  name: 'sendLocation',
  summary: 'Sends a place on the map, for a time following whoever is there',
  ...sender,
  content: 'location',
  parameters: { ...sendParameters, ...ephemeralParameters, ...suggestParameters, ...liveLocation },
  required: ['chat_id', 'latitude', 'longitude'],
  run: async (call) => result(await send(call, { kind: 'location', ...locationOf(call.args) })),
}

const sendVenue: Method = {
  name: 'sendVenue',
  summary: 'Sends a place with its name and address',
  ...sender,
  content: 'venue',
  parameters: {
    ...sendParameters,
    ...ephemeralParameters,
    ...suggestParameters,
    ...place,
    title: 'string',
    address: 'string',
    foursquare_id: 'string',
    foursquare_type: 'string',
    google_place_id: 'string',
    google_place_type: 'string',
  },
  required: ['chat_id', 'latitude', 'longitude', 'title', 'address'],
  run: async (call) => result(await send(call, venueContentOf(call.args))),
}

export function venueContentOf(args: Arguments): Content {
  const { latitude, longitude } = locationOf(args)
  return { kind: 'location', latitude, longitude, venue: venueOf(args) }
}

export function venueOf(args: Arguments): Venue {
  const [foursquareId, foursquareType] = [args.text('foursquare_id'), args.text('foursquare_type')]
  const [googleId, googleType] = [args.text('google_place_id'), args.text('google_place_type')]
  return {
    title: needed(args, 'title'),
    address: needed(args, 'address'),
    ...(foursquareId !== undefined && { foursquareId }),
    ...(foursquareType !== undefined && { foursquareType }),
    ...(googleId !== undefined && { googleId }),
    ...(googleType !== undefined && { googleType }),
  }
}

const sendContact: Method = {
  name: 'sendContact',
  summary: 'Sends a phone number with a name',
  ...sender,
  content: 'contact',
  parameters: {
    ...sendParameters,
    ...ephemeralParameters,
    ...suggestParameters,
    phone_number: 'string',
    first_name: 'string',
    last_name: 'string',
    vcard: 'string',
  },
  required: ['chat_id', 'phone_number', 'first_name'],
  run: async (call) => result(await send(call, contactOf(call.args))),
}

export function contactOf(args: Arguments): Content {
  const [lastName, vcard] = [args.text('last_name'), args.text('vcard')]
  return {
    kind: 'contact',
    phone: needed(args, 'phone_number'),
    firstName: needed(args, 'first_name'),
    ...(lastName !== undefined && { lastName }),
    ...(vcard !== undefined && { vcard }),
  }
}

const sendDice: Method = {
  name: 'sendDice',
  summary: 'Throws dice, or one of their relatives',
  ...sender,
  content: 'dice',
  parameters: { ...sendParameters, ...suggestParameters, emoji: 'string' },
  required: ['chat_id'],
  run: async (call: Call) => {
    const emoji = (call.args.text('emoji') ?? '🎲').replaceAll('\ufe0f', '')
    if (!DICE.includes(emoji)) throw failed('bad_request', 'wrong dice emoji specified')
    return result(await send(call, { kind: 'dice', emoji, value: 0 }))
  },
}

function needed(args: Arguments, name: string): string {
  const value = args.text(name)
  if (value === undefined) throw failed('bad_request', `parameter "${name}" is required`)
  return value
}

export const structuredMethods = [sendLocation, sendVenue, sendContact, sendDice]

const MOST_TASKS = 30
const TITLE_LENGTH = 255
const TASK_LENGTH = 100

function checklistOf(args: Arguments): Content {
  if (!args.has('checklist')) throw badRequest('parameter "checklist" is required')
  const given = args.object('checklist', 'InputChecklist', NO_OBJECT)
  const { tasks } = given as { tasks?: unknown }
  if (!Array.isArray(tasks)) throw badRequest('expected an Array of InputChecklistTask')
  if (tasks.length === 0) throw badRequest('a checklist needs at least one task')
  if (tasks.length > MOST_TASKS) throw badRequest('the checklist has too many tasks')
  const read = Arguments.from(given)
  const title = titleOf(read)
  if (title.text === '') throw badRequest('the title of the checklist is empty')
  if ([...title.text].length > TITLE_LENGTH)
    throw badRequest('the title of the checklist is too long')
  const checklist: Checklist = {
    title,
    tasks: tasks.map(taskOf),
    ...(read.boolean('others_can_add_tasks') && { othersMayAdd: true }),
    ...(read.boolean('others_can_mark_tasks_as_done') && { othersMayMark: true }),
  }
  const ids = new Set(checklist.tasks.map(({ id }) => id))
  if (ids.size < tasks.length)
    throw badRequest('two tasks of the checklist have the same identifier')
  return { kind: 'checklist', checklist }
}

const NO_OBJECT = "can't parse InputChecklist: expected an Object"

function taskOf(given: unknown): ChecklistTask {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest(NO_OBJECT)
  const { id } = given as { id?: unknown }
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id >= 2 ** 31) {
    throw badRequest('the identifier of a task must be positive')
  }
  const text = taskTextOf(Arguments.from(given))
  if (text.text === '') throw badRequest('the text of a task is empty')
  if ([...text.text].length > TASK_LENGTH) throw badRequest('the text of a task is too long')
  return { id, text }
}

const sendChecklist: Method = {
  name: 'sendChecklist',
  summary: 'Sends a list of tasks, which people mark as done',
  scope: 'bot:send',
  operation: 'send',
  content: 'checklist',
  sends: true,
  parameters: { ...sendParameters, checklist: 'json' },
  required: ['chat_id', 'checklist'],
  run: async (call) => result(await send(call, checklistOf(call.args))),
}

const editMessageChecklist: Method = {
  name: 'editMessageChecklist',
  summary: 'Changes the tasks of a checklist; those that stay keep who did them',
  scope: 'bot:send',
  operation: 'edit',
  content: 'checklist',
  parameters: { ...changeParameters, checklist: 'json' },
  required: ['chat_id', 'message_id', 'checklist'],
  run: async (call) =>
    result(await edit(call, () => ({ kind: 'edit', content: checklistOf(call.args) }))),
}

export const checklistMethods = [sendChecklist, editMessageChecklist]
