/** Places on the map: the `geo:` links by which clients share them (RFC 5870), and their elements (XEP-0080). */
import { type Element, xml } from '@xmpp/client'
import type { Content } from '../../../machines/model/content.ts'
import type { Venue } from '../../../machines/model/location.ts'
import { ns } from './namespaces.ts'

export type LocationContent = Content & { readonly kind: 'location' }

const link = /^geo:(-?\d{1,3}(?:\.\d{1,15})?),(-?\d{1,3}(?:\.\d{1,15})?)(;[\w.=;%-]{0,100})?$/

export function writeLocation({ latitude, longitude, accuracy, venue }: LocationContent): string {
  const uncertainty = accuracy === undefined ? '' : `;u=${accuracy}`
  const at = `geo:${latitude},${longitude}${uncertainty}`
  return venue ? `${venue.title}\n${venue.address}\n${at}` : at
}

/** The same as an element, for clients that read no link; with the facts that a link cannot carry. */
export function locationElement({
  latitude,
  longitude,
  accuracy,
  venue,
}: LocationContent): Element {
  return xml(
    'geoloc',
    ns.location,
    xml('lat', {}, String(latitude)),
    xml('lon', {}, String(longitude)),
    accuracy !== undefined && xml('accuracy', {}, String(accuracy)),
    venue && xml('description', {}, venue.title),
    venue && xml('text', {}, venue.address),
  )
}

/** Reads a message that contains only a place. */
export function readLocation(message: Element, text: string): LocationContent | undefined {
  const lines = text.trim().split('\n')
  const [, north, east, parameters = ''] = link.exec(lines.at(-1) ?? '') ?? []
  const element = message.getChild('geoloc', ns.location)
  const isLink = north !== undefined && (lines.length === 1 || element !== undefined)
  if (text && !isLink) return undefined
  const number = (name: string) => Number(element?.getChildText(name) || Number.NaN)
  const latitude = isLink ? Number(north) : number('lat')
  const longitude = isLink ? Number(east) : number('lon')
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return undefined
  const told = Number(/;u=(\d{1,6}(?:\.\d{1,3})?)(?:;|$)/.exec(parameters)?.[1])
  const accuracy = told > 0 ? told : number('accuracy')
  const venue = element && venueOf(element)
  return {
    kind: 'location',
    latitude,
    longitude,
    ...(accuracy > 0 && accuracy < 1e6 && { accuracy }),
    ...(venue && { venue }),
  }
}

function venueOf(element: Element): Venue | undefined {
  const field = (name: string) => element.getChildText(name)?.trim().slice(0, 255).toWellFormed()
  const title = field('description') || field('building')
  const address = field('text') || field('street')
  return title && address ? { title, address } : undefined
}
