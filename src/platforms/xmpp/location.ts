/** Places on the map, written as the `geo:` links by which clients share them (RFC 5870). */
import type { Content, Location } from '../../../machines/content.ts'

const link = /^geo:(-?\d{1,3}(?:\.\d{1,15})?),(-?\d{1,3}(?:\.\d{1,15})?)(;[\w.=;%-]{0,100})?$/

export function writeLocation({ latitude, longitude, accuracy }: Location): string {
  const uncertainty = accuracy === undefined ? '' : `;u=${accuracy}`
  return `geo:${latitude},${longitude}${uncertainty}`
}

/** Of a text that is nothing but such a link. */
export function readLocation(text: string): (Content & { kind: 'location' }) | undefined {
  const [, north, east, parameters = ''] = link.exec(text.trim()) ?? []
  if (north === undefined || east === undefined) return undefined
  const [latitude, longitude] = [Number(north), Number(east)]
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined
  const accuracy = Number(/;u=(\d{1,6}(?:\.\d{1,3})?)(?:;|$)/.exec(parameters)?.[1])
  return { kind: 'location', latitude, longitude, ...(accuracy > 0 && { accuracy }) }
}
