/** The numbers of `/metrics` about files. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { MediaMeasures } from '../media/measures.ts'

/** Seconds; a transcoding may take two minutes. */
const lengths = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120]

export function createMediaMetrics(registers: Registry[]): MediaMeasures {
  const ingests = new Counter({
    name: 'chapar_media_ingests_total',
    help: 'Files taken in, by what they were to be and what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const bytesIn = new Counter({
    name: 'chapar_media_received_bytes_total',
    help: 'Bytes of the files taken in.',
    registers,
  })
  const bytesOut = new Counter({
    name: 'chapar_media_served_bytes_total',
    help: 'Bytes of stored files that were asked for.',
    registers,
  })
  const transcodings = new Histogram({
    name: 'chapar_media_transcoding_seconds',
    help: 'Time that ffmpeg took for a file.',
    labelNames: ['outcome'],
    buckets: lengths,
    registers,
  })
  return {
    ingested(kind, outcome, bytes) {
      ingests.inc({ kind, outcome })
      bytesIn.inc(bytes)
    },
    read: (bytes) => bytesOut.inc(bytes),
    transcoded: (succeeded, seconds) =>
      transcodings.observe({ outcome: succeeded ? 'made' : 'failed' }, seconds),
    waiting(count) {
      new Gauge({
        name: 'chapar_media_tasks_waiting',
        help: 'Pieces of work on files that wait for a thread.',
        registers,
        collect() {
          this.set(count())
        },
      })
    },
  }
}
