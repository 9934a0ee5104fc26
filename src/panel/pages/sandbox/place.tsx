/** A place in a message, with the way to a map of it. */
import type { Message } from '../../api/sandbox-types.ts'
import { Icon } from '../../ui/icons.tsx'
import { Outside } from './rich-text.tsx'

export interface PlaceProps {
  readonly location: NonNullable<Message['location']>
  readonly venue: Message['venue']
}

export function Place({ location: { latitude, longitude }, venue }: PlaceProps) {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`
  return (
    <span className="place">
      <Icon name="pin" />
      <span className="grow">
        {venue && (
          <span className="block" dir="auto">
            <span className="label">{venue.title}</span>{' '}
            <span className="quiet small">{venue.address}</span>
          </span>
        )}
        <Outside address={map} className="ltr small">
          {`${latitude}, ${longitude}`}
        </Outside>
      </span>
    </span>
  )
}
