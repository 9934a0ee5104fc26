/** Places on the map, in the terms of no particular network. */

export interface Location {
  readonly latitude: number
  readonly longitude: number
  /** Metres. */
  readonly accuracy?: number
  /** Only for a live location. */
  readonly liveSeconds?: number
  readonly heading?: number
  /** Metres. */
  readonly alertDistance?: number
}

export interface Venue {
  readonly title: string
  readonly address: string
  readonly foursquareId?: string
  readonly foursquareType?: string
  readonly googleId?: string
  readonly googleType?: string
}
