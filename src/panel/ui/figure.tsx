/** A number with its name, to stand in a list of figures. */
import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'

export interface FigureProps {
  readonly name: string
  readonly value: ReactNode
  readonly tone?: Tone | undefined
}

export const Figure = ({ name, value, tone }: FigureProps) => (
  <div className={tone ? `figure tone-${tone}` : 'figure'}>
    <dt className="quiet small">{name}</dt>
    <dd>{value}</dd>
  </div>
)
