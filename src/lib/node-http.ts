// An ES module that imports from node:http runs every getter which that has, and so loads a WebSocket client: 13 MB and
// 40 ms of each start. These are the same functions.

export const { createServer, request } = process.getBuiltinModule('node:http')

export const { request: requestSecurely } = process.getBuiltinModule('node:https')
