/** The chart of a machine, and the same in words. Their code, with the library that places states, comes with the first one. */
import { type ComponentProps, lazy, Suspense } from 'react'
import { Loading } from '../../ui/states.tsx'

const Drawn = lazy(async () => ({
  default: (await import('../../chart/statechart.tsx')).MachineChart,
}))

export const MachineChart = (props: ComponentProps<typeof Drawn>) => (
  <Suspense fallback={<Loading lines={6} />}>
    <Drawn {...props} />
  </Suspense>
)
