/** What the service takes from its launcher, whose own code an older Node.js has to run. */
export declare const presentMemory: (root?: string) => number
